import type { KubeObject } from '#util/kube-object.ts';
import { formatSelector, matchesSelector } from '#util/label-selector.ts';
import { uniqueValues } from '../convert/unique-values.ts';
import { type FoundSelector, type LabelSet, labelSetsOf, selectorsOf } from './selectors.ts';

/** An object that a resource creates. */
export interface CreatedObject {
  /** Id of the child in the definition. */
  readonly child: string;
  readonly manifest: KubeObject;
}

/** Something that two resources of a definition share. */
export interface Overlap {
  /** Id of the child in the definition. */
  readonly child: string;
  /** JSON pointer in the object of the child. */
  readonly pointer: string;
  /** For people. It names the objects of the first resource. */
  readonly message: string;
  readonly hint: string;
  /** Both resources work, but cannot both have what they ask for. Otherwise one changes or uses what belongs to the other. */
  readonly isMinor: boolean;
}

/** What two resources share: names of objects, Pods that a selector of the other one selects, disks and other unique values. Pure. */
export function findOverlaps(
  first: readonly CreatedObject[],
  second: readonly CreatedObject[],
): readonly Overlap[] {
  const names = first.filter(({ manifest }) =>
    second.some((other) => identityOf(other.manifest) === identityOf(manifest)),
  );
  const others = first.filter((each) => !names.includes(each));
  return [
    ...names.map(({ child, manifest }) => ({
      child,
      pointer: '/metadata/name',
      message: `${describe(manifest)} has the same name for each resource`,
      hint: 'Put "${ metadata.name }" into the name, or remove the object from the definition and create it once for all resources',
      isMinor: false,
    })),
    ...first.flatMap((each) => selectorOverlaps(each, first, second)),
    ...others.flatMap((each) => valueOverlaps(each, second)),
  ];
}

function identityOf({ apiVersion, kind, metadata: { name, namespace = '' } }: KubeObject): string {
  return [apiVersion.replace(/\/?[^/]*$/, ''), kind, namespace, name].join(' ');
}

function describe({ kind, metadata }: KubeObject): string {
  return `${kind} "${metadata.name}"`;
}

/** The selectors of an object that select something of another resource. */
function selectorOverlaps(
  { child, manifest }: CreatedObject,
  first: readonly CreatedObject[],
  second: readonly CreatedObject[],
): readonly Overlap[] {
  return selectorsOf(manifest).flatMap((found) => {
    const selected = second.find((other) =>
      labelSetsOf(other.manifest).some((set) =>
        selects(found, manifest, { set, of: other.manifest }),
      ),
    );
    if (selected === undefined) return [];
    const named = first.find((each) => each.child === selected.child) ?? selected;
    const text = formatSelector(found.selector);
    const written = text === '' ? 'empty selector' : `selector "${text}"`;
    const what = found.target === 'Pod' ? 'the Pods of ' : '';
    return {
      child,
      pointer: found.pointer,
      message: `The ${written} of ${describe(manifest)} also selects ${what}${describe(named.manifest)} of other resources`,
      hint: 'Add a label with "${ metadata.name }", such as "app.kubernetes.io/instance", to the selector and to what it selects',
      isMinor: false,
    };
  });
}

function selects(
  { selector, target, isLocal }: FoundSelector,
  { metadata: { namespace } }: KubeObject,
  { set, of }: { readonly set: LabelSet; readonly of: KubeObject },
): boolean {
  if (target !== 'any' && set.kind !== target) return false;
  if (isLocal && namespace !== of.metadata.namespace) return false;
  return matchesSelector(selector, set.labels);
}

/** Values that only one object should have. */
function valueOverlaps(
  { child, manifest }: CreatedObject,
  second: readonly CreatedObject[],
): readonly Overlap[] {
  const others = second.filter((each) => each.child === child);
  const taken = others.flatMap((each) => uniqueValues(each.manifest));
  return uniqueValues(manifest).flatMap(({ pointer, path, value, what, isClaim }) => {
    if (!taken.some((each) => each.pointer === pointer && each.value === value)) return [];
    const { kind, metadata } = manifest;
    const field = path
      .split(/[.[\]]+/)
      .filter((step) => step !== '' && !/^\d+$/.test(step))
      .at(-1);
    return {
      child,
      pointer,
      message: `${describe(manifest)} has ${what}${value === true ? '' : ` "${value}"`} for each resource`,
      hint: `Make it a field of the resource: --parameter spec.${field}=${kind}/${metadata.name}:${path}`,
      isMinor: !isClaim,
    };
  });
}
