import type { ChildPlan } from '../../compile/index.ts';
import type { Gvk } from '../../util/gvk.ts';
import type { Pass } from './pass.ts';

/** What may bring a Secret's values into an object. */
export type SecretUse = Pick<ChildPlan, 'gvk' | 'readsUsed' | 'childrenRead' | 'childrenObserved'>;

/** May a message of the server about this child hold a Secret's value? Then it is cut to reason and fields. */
export function usesSecret({ context }: Pass, child: SecretUse): boolean {
  const { reads, children } = context.plan;
  return (
    isSecret(child.gvk) ||
    reads.some(({ id, gvk }) => child.readsUsed.includes(id) && isSecret(gvk)) ||
    children.some(
      ({ id, gvk }) =>
        [...child.childrenRead, ...child.childrenObserved].includes(id) && isSecret(gvk),
    )
  );
}

/** May the status hold something of a Secret? Then what the server says of it is not quoted. */
export function statusUsesSecret({ context }: Pass): boolean {
  const { reads, children } = context.plan;
  return [...reads, ...children].some(({ gvk }) => isSecret(gvk));
}

function isSecret({ group, kind }: Gvk): boolean {
  return group === '' && kind === 'Secret';
}
