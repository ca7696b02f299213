class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    return torch.add(x, CONSTANTS.c7)
class Conv(Module):
  weight : Tensor
