import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** What distinguishes the objects of one installation from those of another one: the name of the release, in terms of Helm. */
export interface Instance {
  readonly name: string;
  /**
   * The text has no other meaning in the manifests, such as that of an application or an image: it is the name of the instance wherever
   * it occurs.
   */
  readonly isDistinctive: boolean;
  /** Do labels name the instance, beside the application? */
  readonly hasLabel: boolean;
}

/** Labels whose value is the instance. */
export const instanceLabels: ReadonlySet<string> = new Set([
  'app.kubernetes.io/instance',
  'release',
]);

/** Labels whose value is the application, in most charts. */
export const applicationLabels: ReadonlySet<string> = new Set([
  'app',
  'name',
  'k8s-app',
  'component',
  'tier',
  'app.kubernetes.io/name',
  'app.kubernetes.io/component',
  'app.kubernetes.io/part-of',
]);

const releaseAnnotation = 'meta.helm.sh/release-name';

/** Shorter names are parts of too many words. */
const shortestDistinctive = 3;

/**
 * Finds the text that becomes the name of the resource: that of the labels if the names contain it, else the beginning that all names, or
 * most of them, have in common. Undefined: the names have nothing in common. Pure.
 */
export function findInstance(objects: readonly KubeObject[]): Instance | undefined {
  const names = objects.map(({ metadata }) => metadata.name);
  const labelled = labelledNames(objects);
  const counted = labelled
    .map((name) => ({ name, count: names.filter((each) => contains(each, name)).length }))
    .sort((a, b) => b.count - a.count);
  const [best] = counted;
  const fromLabels = (name: string): Instance => ({
    name,
    isDistinctive: name.length >= shortestDistinctive && !otherWords(objects).has(name),
    hasLabel: true,
  });
  if (best !== undefined && best.count * 2 >= names.length) return fromLabels(best.name);
  const begins = commonBeginning(names) ?? commonSelectorValue(objects, names);
  if (begins !== undefined) {
    const name = selectedBeginning(objects, begins) ?? begins;
    return { name, isDistinctive: false, hasLabel: labelled.includes(name) };
  }
  return best !== undefined && best.count > 0 ? fromLabels(best.name) : undefined;
}

/** Is this text a part of the other one, between characters that are neither letters nor digits? Pure. */
export function contains(text: string, part: string): boolean {
  return positionOf(text, part) >= 0;
}

/** Where the part begins, or -1. Pure. */
export function positionOf(text: string, part: string): number {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1))
    if (!isWord(text[at - 1]) && !isWord(text[at + part.length])) return at;
  return -1;
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[A-Za-z0-9]/.test(character);
}

/** The values of labels that name an instance, those of most objects first, and what they have in common. */
function labelledNames(objects: readonly KubeObject[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const [key, value] of objects.flatMap((object) => labelsIn(object)))
    if (instanceLabels.has(key)) counts.set(value, (counts.get(value) ?? 0) + 1);
  for (const { metadata } of objects) {
    const release = metadata.annotations?.[releaseAnnotation];
    if (release !== undefined) counts.set(release, (counts.get(release) ?? 0) + 1);
  }
  const values = [...counts].sort(([, a], [, b]) => b - a).map(([value]) => value);
  const shared = values.length > 1 ? commonBeginning(values, values.length) : undefined;
  return shared === undefined ? values : [shared, ...values];
}

/** Maps of labels, also those of selectors and templates. */
const labelMaps: ReadonlySet<string> = new Set(['labels', 'matchLabels', 'selector']);

const selectors: ReadonlySet<string> = new Set(['matchLabels', 'selector']);

/** All labels of an object, with those of its selectors and templates. Pure. */
function labelsIn(
  value: unknown,
  { field = '', maps = labelMaps } = {},
): readonly (readonly [string, string])[] {
  if (Array.isArray(value)) return value.flatMap((item) => labelsIn(item, { maps }));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    typeof each === 'string'
      ? maps.has(field)
        ? [[name, each] as const]
        : []
      : labelsIn(each, { field: name, maps }),
  );
}

/** Texts that are names of something else: of applications, images and containers. */
function otherWords(objects: readonly KubeObject[]): ReadonlySet<string> {
  const labels = objects.flatMap((object) => labelsIn(object));
  return new Set([
    ...labels.flatMap(([key, value]) => (applicationLabels.has(key) ? [value] : [])),
    ...labels.flatMap(([key, value]) =>
      /^(?:helm\.sh\/)?chart$/.test(key) ? [value.replace(/-v?\d.*$/, '')] : [],
    ),
    ...objects.flatMap((object) => imagesIn(object)),
  ]);
}

/** The last parts of the names of images, without tags. */
function imagesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(imagesIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    name === 'image' && typeof each === 'string'
      ? [each.split('/').at(-1)?.split(/[:@]/)[0] ?? '']
      : imagesIn(each),
  );
}

/** The longest beginning, up to a `-`, of at least this many names. @default all, else more than half and more than one of them */
function commonBeginning(names: readonly string[], least?: number): string | undefined {
  const counts = new Map<string, number>();
  for (const name of names) {
    const parts = name.split('-');
    for (let count = 1; count <= parts.length; count++) {
      const prefix = parts.slice(0, count).join('-');
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  }
  const most = Math.max(0, ...counts.values());
  const enough = least ?? (names.length === 1 ? 1 : Math.max(2, Math.floor(names.length / 2) + 1));
  if (most < enough) return undefined;
  const [longest] = [...counts]
    .filter(([, count]) => count === most)
    .map(([prefix]) => prefix)
    .sort((a, b) => b.length - a.length);
  return longest;
}

/** The value of a label that all names contain, such as `web` in `svc-web` and `pdb-web`. */
function commonSelectorValue(
  objects: readonly KubeObject[],
  names: readonly string[],
): string | undefined {
  const values = new Set(objects.flatMap((object) => labelsIn(object)).map(([, value]) => value));
  return [...values].find((value) => value !== '' && names.every((name) => contains(name, value)));
}

/**
 * The part of the common beginning of the names that selectors contain, where none contains all of it: `rel1` of `rel1-cache`. It must
 * become computed, so that two resources select their own Pods.
 */
function selectedBeginning(objects: readonly KubeObject[], begins: string): string | undefined {
  const values = objects
    .flatMap((object) => labelsIn(object, { maps: selectors }))
    .map(([, value]) => value);
  if (values.some((value) => contains(value, begins))) return undefined;
  return values
    .filter((value) => value !== '' && begins.startsWith(`${value}-`))
    .sort((a, b) => b.length - a.length)[0];
}
