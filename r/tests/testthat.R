library(testthat)
library(blankets)

test_check("blankets")
