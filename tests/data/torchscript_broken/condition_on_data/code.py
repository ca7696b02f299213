class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    if bool(torch.sum(x)):
      y = x
    else:
      y = torch.neg(x)
    return y
class Conv(Module):
  weight : Tensor
