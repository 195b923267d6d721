# Each question goes to the Python function of the same name; its answer comes back as a result that prints itself.

module <- function() reticulate::import("blankets", convert = FALSE)

# Arguments that are lists of names in Python, where R has no difference between one and several.
several <- c("given", "exclude", "keep", "columns")

argument <- function(value, name) {
  if (name %in% several) return(as.list(value))
  if (is.data.frame(value)) return(as_table(value))
  # 20 is a float in R; Python asks for a whole number where one is meant.
  whole <- is.numeric(value) && !is.object(value) && all(is.finite(value)) && all(value == round(value)) &&
    all(abs(value) < 2^31)
  if (whole) as.integer(value) else value
}

ask <- function(question, ...) {
  given <- list(...)
  for (name in names(given)) given[name] <- list(argument(given[[name]], name))
  result(do.call(module()[[question]], given))
}

result <- function(found) structure(list(python = found), class = "blankets_result")

# A pandas data frame: factors keep their levels and order, text becomes a factor, NA is missing.
as_table <- function(data) {
  pandas <- reticulate::import("pandas", convert = FALSE)
  columns <- Map(as_column, data, names(data), MoreArgs = list(pandas = pandas))
  # Names may be repeated in R, and would be lost in a dictionary.
  if (anyDuplicated(names(data))) {
    stop("the column name ", sQuote(names(data)[anyDuplicated(names(data))]), " is there twice; give each its own name")
  }
  pandas$DataFrame(do.call(reticulate::dict, c(columns, convert = FALSE)))
}

as_column <- function(column, name, pandas) {
  if (inherits(column, c("Date", "POSIXct"))) {
    column <- as.numeric(as.Date(column)) # days
  } else if (is.character(column) || is.logical(column)) {
    column <- factor(column)
  }
  if (is.factor(column)) {
    codes <- as.integer(column) - 1L
    codes[is.na(codes)] <- -1L
    pandas$Categorical$from_codes(as_array(codes), as.list(levels(column)), ordered = is.ordered(column))
  } else if (is.numeric(column) && (!is.object(column) || inherits(column, "difftime"))) {
    as_array(if (anyNA(column)) as.double(column) else as.vector(unclass(column)))
  } else {
    stop("the column ", sQuote(name), " has the class ", class(column)[1], "; make it a number, a factor or text")
  }
}

# By its bytes: versions of reticulate before 1.38 do not know NumPy 2.
as_array <- function(values) {
  numpy <- reticulate::import("numpy", convert = FALSE)
  numpy$frombuffer(writeBin(values, raw()), if (is.integer(values)) "int32" else "float64")
}
