class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    return torch.relu(y)
class Conv(Module):
  weight : Tensor
