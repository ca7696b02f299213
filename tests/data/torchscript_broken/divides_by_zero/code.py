class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    return torch.view(x, [torch.floordiv(3, 0)])
class Conv(Module):
  weight : Tensor
