# Trains the digits, and says which digit an image is. dtnn_r.c says how dtnn_r.so is made:
#
#     Rscript examples/digits.R ./dtnn_r.so

dyn.load(commandArgs(trailingOnly = TRUE)[1])

plan <- .Call("compile", "digits_simplecnn", c("training.epochs=2", "dataset.train_samples=2000"))
network <- .Call("network_of", plan)
invisible(.Call("train", network, function(epoch, loss) cat(sprintf("epoch %d: loss %.3f\n", epoch, loss))))
test <- .Call("evaluate", network, "test")
cat(sprintf("test: %s %.3f\n", names(test), test), sep = "")

image <- array(0, c(1, 1, 28, 28)) # samples, channels, height, width
image[1, 1, 5:24, 14:15] <- 1 # a stroke
digits <- .Call("predict", network, image)
cat(sprintf("a stroke is a %s (%.2f)\n", rownames(digits)[which.max(digits)], max(digits)))
