class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    return (self).forward(x, )
class Conv(Module):
  weight : Tensor
