import type { Leadership } from '../leadership/leadership.ts';
import type { Registry } from './registry.ts';

/** Who has just won knows what was so before: it leads from the moment on in which it is sure what is wanted. */
export function leadingWhenSure(
  leadership: Leadership,
  registry: () => Pick<Registry, 'isInDoubt' | 'whenSure'>,
): Leadership {
  return {
    get isLeading() {
      return leadership.isLeading && !registry().isInDoubt;
    },
    async whenLeading(signal) {
      await leadership.whenLeading(signal);
      await registry().whenSure(signal);
    },
  };
}
