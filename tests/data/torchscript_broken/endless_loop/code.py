class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    while True:
      pass
    return x
class Conv(Module):
  weight : Tensor
