bl_discover <- function(data, target, ...) ask("discover", data = data, target = target, ...)

bl_audit <- function(data, target, ...) ask("audit", data = data, target = target, ...)

bl_rank <- function(data, target, ...) ask("rank", data = data, target = target, ...)

bl_stability <- function(data, target, ...) ask("stability", data = data, target = target, ...)

bl_advise <- function(data, target, ...) ask("advise", data = data, target = target, ...)

bl_test <- function(data, x, target, ...) ask("test", data = data, x = x, target = target, ...)

bl_plan <- function(...) ask("plan", ...)
