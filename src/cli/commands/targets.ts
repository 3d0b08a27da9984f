import type { KindInfo } from '#kube';
import { CliError } from '../exit-code.ts';
import type { Kinds } from './kinds.ts';

/** The objects of a kind that a command acts on. */
export interface Target {
  readonly kind: KindInfo;
  /** Empty: all objects of the kind. */
  readonly names: readonly string[];
}

/** Parses `podset example`, `pods,svc` or `podset/example deploy/web`, in this order. @throws CliError */
export function targetsOf(
  kinds: Kinds,
  types: string,
  names: readonly string[],
): readonly Target[] {
  const words = [types, ...names];
  if (!words.some((word) => word.includes('/')))
    return kinds.resolve(types).map((kind) => ({ kind, names }));
  const named = words.flatMap((word) => {
    const [type = '', name = '', ...rest] = word.split('/');
    if (type === '' || name === '' || rest.length > 0)
      throw new CliError(`Expected TYPE/NAME, found "${word}"`, {
        hint: 'Either "TYPE NAME..." or "TYPE/NAME...", not both',
      });
    return kinds.resolve(type).map((kind) => ({ kind, name }));
  });
  return [...Map.groupBy(named, ({ kind }) => kind)].map(([kind, of]) => ({
    kind,
    names: of.map(({ name }) => name),
  }));
}
