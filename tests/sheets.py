"""Excel files made by hand: a zip archive of a few short texts."""

import datetime
import zipfile
from xml.sax.saxutils import escape

_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def _cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime.date):
        return f'<c s="1"><v>{(value - datetime.date(1899, 12, 30)).days}</v></c>'
    return f"<c><v>{value}</v></c>"


def write_xlsx(path, sheets):
    """Write a workbook; ``sheets`` are lists of rows by name."""
    with zipfile.ZipFile(path, "w") as book:
        names = list(sheets)
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{k}.xml" ContentType="{_TYPES}.worksheet+xml"/>'
            for k in range(1, len(names) + 1)
        )
        book.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
            f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/>{parts}</Types>',
        )
        relations = "http://schemas.openxmlformats.org/package/2006/relationships"
        book.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{_REL}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(f'<sheet name="{escape(n)}" sheetId="{k}" r:id="r{k}"/>' for k, n in enumerate(names, 1))
        book.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{_MAIN}" xmlns:r="{_REL}"><sheets>{listed}</sheets></workbook>'
        )
        targets = "".join(
            f'<Relationship Id="r{k}" Type="{_REL}/worksheet" Target="worksheets/sheet{k}.xml"/>'
            for k in range(1, len(names) + 1)
        )
        style = f'<Relationship Id="rs" Type="{_REL}/styles" Target="styles.xml"/>'
        book.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{relations}">{targets}{style}</Relationships>'
        )
        book.writestr(
            "xl/styles.xml",
            f'<styleSheet xmlns="{_MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
        )
        for k, rows in enumerate(sheets.values(), 1):
            body = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
            book.writestr(
                f"xl/worksheets/sheet{k}.xml",
                f'<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData></worksheet>',
            )
