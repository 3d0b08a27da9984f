import type { Leadership } from '../leadership/leadership.ts';
import type { Registry } from './registry.ts';

/** Who has just won knows what was so before: it leads from the moment on in which it is sure what is wanted. */
export function leadingWhenSure(
  leadership: Leadership,
  registry: () => Pick<Registry, 'isInDoubt' | 'whenSure'>,
): Leadership {
  // Later doubts, after an outage, are those of one who leads.
  let wasSure = false;
  return {
    get isLeading() {
      wasSure ||= leadership.isLeading && !registry().isInDoubt;
      return wasSure && leadership.isLeading;
    },
    async whenLeading(signal) {
      await leadership.whenLeading(signal);
      if (!wasSure) await registry().whenSure(signal);
      wasSure = true;
    },
  };
}
