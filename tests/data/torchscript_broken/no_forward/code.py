class Net(Module):
  weight : Tensor
