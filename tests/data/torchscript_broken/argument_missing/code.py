class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    return torch.conv2d(x)
class Conv(Module):
  weight : Tensor
