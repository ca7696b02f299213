class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    return torch.einsum("ij, x)
class Conv(Module):
  weight : Tensor
