ready <- reticulate::py_module_available("blankets") && reticulate::py_module_available("pandas")

clinic <- function(n = 1000) {
  set.seed(1)
  smoker <- sample(c("never", "former", "current"), n, replace = TRUE)
  ill <- runif(n) < ifelse(smoker == "current", 0.7, 0.2)
  data.frame(
    smoker = factor(smoker, c("never", "former", "current"), ordered = TRUE),
    cough = ifelse(runif(n) < ifelse(smoker == "current", 0.8, 0.2), "yes", "no"),
    age = round(rnorm(n, 50, 10)),
    ill = ill
  )
}

test_that("the blanket of a column is found", {
  skip_if_not(ready)
  answer <- bl_discover(clinic(), "ill")
  expect_equal(members(answer), "smoker")
  expect_output(print(answer), "Markov blanket of ill: 1 of 3 columns")
  expect_output(bl_explain(answer, "cough"), "cough is not in the Markov blanket of ill")
  expect_equal(as.data.frame(answer)$member, "smoker")
  all <- as.data.frame(bl_discover(transform(clinic(), ache = xor(ill, runif(1000) < 0.1)), "ill"))
  expect_setequal(all$member, c("smoker", "ache"))
  expect_setequal(all$given, c("smoker", "ache"))
})

test_that("a test gives R's own statistic", {
  skip_if_not(ready)
  data <- clinic()
  for (given in list(NULL, "smoker")) {
    found <- bl_test(data, "cough", "ill", given = given, test = "x2")
    strata <- if (is.null(given)) list(data) else split(data, data$smoker)
    expected <- sum(sapply(strata, function(part) chisq.test(table(part$cough, part$ill), correct = FALSE)$statistic))
    expect_equal(reticulate::py_to_r(found$python$statistic), expected, tolerance = 1e-9)
  }
})

test_that("holes, factors and dates arrive as they are", {
  skip_if_not(ready)
  data <- data.frame(
    text = c("a", NA, "b"), whole = c(1L, NA, 3L), number = c(0.5, NA, 2), yes = c(TRUE, NA, FALSE),
    day = as.Date(c("1970-01-02", NA, "1970-01-04")), order = factor(c("low", "high", NA), c("low", "high"), ordered = TRUE)
  )
  table <- blankets:::as_table(data)
  pandas <- reticulate::import("pandas")
  expect_equal(unname(unlist(reticulate::py_to_r(table$isna()$sum()$tolist()))), rep(1L, 6))
  expect_equal(reticulate::py_to_r(table[["day"]]$tolist())[c(1, 3)], c(1, 3))
  expect_true(reticulate::py_to_r(table[["order"]]$cat$ordered))
  expect_equal(unlist(reticulate::py_to_r(table[["order"]]$cat$categories$tolist())), c("low", "high"))
})

test_that("what cannot be used is refused by name", {
  skip_if_not(ready)
  expect_error(bl_discover(data.frame(a = 1:3, b = I(list(1, 2, 3))), "a"), "the column .b. has the class AsIs")
  twice <- data.frame(a = 1:3, a = 1:3, check.names = FALSE)
  expect_error(bl_discover(twice, "a"), "the column name .a. is there twice")
  expect_error(bl_discover(clinic(), "sick"), "sick")
})

test_that("whole numbers of R are whole numbers of Python, and pages are written", {
  skip_if_not(ready)
  found <- bl_stability(clinic(), "ill", n_resamples = 5, rng = 1, algorithm = "iamb")
  expect_output(print(found), "over 5 subsamples")
  file <- tempfile(fileext = ".html")
  bl_report(bl_discover(clinic(), "ill", exclude = "age"), file)
  expect_match(paste(readLines(file, n = 50, warn = FALSE), collapse = ""), "ill")
  expect_output(print(bl_plan(effect = "medium", power = 0.9)), "ows needed: 166")
  expect_output(print(bl_rank(clinic(), "ill")), "smoker")
  expect_output(print(bl_audit(clinic(), "ill")), "Audit of 1,000 rows")
})
