"""LARS and LAMB from their papers' formulas, every step computed in double precision: what PyTorch does not have."""
import torch


class Layerwise(torch.optim.Optimizer):
    def __init__(self, params, **defaults):
        super().__init__(params, defaults)

    def plain(self, group, p):
        """A tensor that is left at the common rate, without decay."""
        return group.get('skip_vectors', False) and p.dim() <= 1

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in (p for p in group['params'] if p.grad is not None):
                if not self.state[p]:
                    self.state[p].update(t=0, m=torch.zeros_like(p, dtype=torch.float64), v=torch.zeros_like(p, dtype=torch.float64))
                state = self.state[p]
                state['t'] += 1
                p.copy_(self.updated(group, state, p.double(), p.grad.double(), self.plain(group, p)))


class Lars(Layerwise):
    """You, Gitman, Ginsburg: Large Batch Training of Convolutional Networks, arXiv 1708.03888, algorithm 1."""

    def __init__(self, params, lr, trust=1e-3, momentum=0.9, weight_decay=0.0, skip_vectors=False):
        super().__init__(params, lr=lr, trust=trust, momentum=momentum, decay=weight_decay, skip_vectors=skip_vectors)

    def updated(self, group, state, w, g, plain):
        decay = 0.0 if plain else group['decay']
        divisor = g.norm() + decay * w.norm()
        ratio = 1.0 if plain or w.norm() == 0 or divisor == 0 else group['trust'] * w.norm() / divisor
        state['v'] = group['momentum'] * state['v'] + group['lr'] * ratio * (g + decay * w)
        return w - state['v']


class Lamb(Layerwise):
    """You et al.: Large Batch Optimization for Deep Learning: Training BERT in 76 minutes, arXiv 1904.00962, algorithm 2, phi(z) = z."""

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01, skip_vectors=False):
        super().__init__(params, lr=lr, betas=betas, eps=eps, decay=weight_decay, skip_vectors=skip_vectors)

    def updated(self, group, state, w, g, plain):
        (b1, b2), t, decay = group['betas'], state['t'], 0.0 if plain else group['decay']
        state['m'] = b1 * state['m'] + (1 - b1) * g
        state['v'] = b2 * state['v'] + (1 - b2) * g * g
        u = state['m'] / (1 - b1 ** t) / ((state['v'] / (1 - b2 ** t)).sqrt() + group['eps']) + decay * w
        ratio = 1.0 if plain or w.norm() == 0 or u.norm() == 0 else w.norm() / u.norm()
        return w - group['lr'] * ratio * u
