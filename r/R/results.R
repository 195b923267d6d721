print.blankets_result <- function(x, ...) {
  cat(reticulate::py_str(x$python), "\n", sep = "")
  invisible(x)
}

members <- function(x) unlist(reticulate::py_to_r(x$python$members), use.names = FALSE)

bl_explain <- function(x, column) {
  cat(reticulate::py_str(x$python$explain(column)), "\n", sep = "")
  invisible(x)
}

bl_report <- function(x, file, ...) {
  x$python$report(path.expand(file), ...)
  invisible(file)
}

as.data.frame.blankets_result <- function(x, ...) {
  cell <- function(value) {
    value <- unlist(value) # tuples of names come as lists
    if (is.null(value)) NA else if (length(value) == 1) value else paste(value, collapse = ", ")
  }
  rows <- reticulate::py_to_r(x$python$table())
  do.call(rbind, lapply(rows, function(row) as.data.frame(lapply(row, cell))))
}
