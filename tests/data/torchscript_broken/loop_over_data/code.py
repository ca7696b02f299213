class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    for i in range(int(torch.sum(x))):
      pass
    return x
class Conv(Module):
  weight : Tensor
