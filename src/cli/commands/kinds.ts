import { type ApiClient, type KindInfo, listServedKinds } from '#kube';
import { didYouMean } from '#util/did-you-mean.ts';
import { gvkOf } from '#util/gvk.ts';
import { CliError } from '../exit-code.ts';

const flow = { name: 'cli', priority: 'object' } as const;

/** Reads the served kinds. @throws KubeError */
export async function loadKinds(api: ApiClient, signal: AbortSignal): Promise<Kinds> {
  const { preferred, others } = await listServedKinds(api, flow, signal);
  return new Kinds(preferred, { others });
}

/** A kind with all of its names. */
export type NamedKind = Pick<KindInfo, 'gvk' | 'plural' | 'singular' | 'shortNames' | 'categories'>;

interface KindsOptions<Kind> {
  /** The kinds in other versions, which only a name with the version means. @default none */
  readonly others?: readonly Kind[];
  /** The message for a name that no kind has. */
  readonly missing?: (name: string) => string;
}

/** The kinds of a server, by all of their names. */
export class Kinds<Kind extends NamedKind = KindInfo> {
  readonly all: readonly Kind[];
  readonly #others: readonly Kind[];
  readonly #missing: (name: string) => string;

  /** @param all each kind once */
  constructor(all: readonly Kind[], options: KindsOptions<Kind> = {}) {
    const { others = [], missing = (name) => `The server does not serve "${name}"` } = options;
    this.all = all;
    this.#others = others;
    this.#missing = missing;
  }

  /** Parses `pods`, `po`, `Pod`, `deployments.apps`, `all`, or several of these with commas. @throws CliError */
  resolve(text: string): readonly Kind[] {
    const found = text.split(',').flatMap((name) => this.#named(name.trim()));
    return [...new Set(found)];
  }

  /** The kind with this name; undefined when there is none. @throws CliError when there are several */
  find(name: string): Kind | undefined {
    const wanted = name.toLowerCase();
    const isCalled = (one: Kind, words: readonly string[]) =>
      words.some((word) => matchesName(one, word, wanted));
    const byName = this.all.filter((one) => isCalled(one, namesOf(one)));
    const byShortName = this.all.filter((one) => isCalled(one, one.shortNames));
    const found = byName.length > 0 ? byName : byShortName;
    const [kind] = [...[...byName, ...byShortName].filter(isBuiltInKind), ...found];
    if (kind !== undefined && found.length > 1 && !isBuiltInKind(kind))
      throw ambiguous(name, found);
    return kind ?? this.#others.find((one) => isCalled(one, [...namesOf(one), ...one.shortNames]));
  }

  /** The kind of a manifest; undefined when the server does not serve it. */
  of(apiVersion: string, kind: string): Kind | undefined {
    const wanted = gvkOf(apiVersion, kind);
    return [...this.all, ...this.#others].find(
      ({ gvk }) =>
        gvk.kind === kind && gvk.group === wanted.group && gvk.version === wanted.version,
    );
  }

  #named(name: string): readonly Kind[] {
    const byCategory = this.all.filter(({ categories }) => categories.includes(name));
    if (byCategory.length > 0) return byCategory;
    const kind = this.find(name);
    if (kind === undefined) throw this.#notServed(name);
    return [kind];
  }

  #notServed(name: string): CliError {
    const [first = ''] = name.toLowerCase().split('.');
    const known = this.all.flatMap(({ plural, shortNames }) => [plural, ...shortNames]);
    const hint = didYouMean(first, known);
    return new CliError(this.#missing(name), hint === undefined ? {} : { hint });
  }
}

/** Groups of Kubernetes itself have no dot, or are below k8s.io. */
export function isBuiltInKind({ gvk: { group } }: Pick<KindInfo, 'gvk'>): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io');
}

function namesOf({ plural, singular, gvk }: NamedKind): readonly string[] {
  return [plural, singular, gvk.kind.toLowerCase()];
}

/** `podsets`, `podsets.apps.example.com`, `podsets.v1.apps.example.com`. */
function matchesName({ gvk }: NamedKind, word: string, wanted: string): boolean {
  return [word, `${word}.${gvk.group}`, `${word}.${gvk.version}.${gvk.group}`].includes(wanted);
}

/** An ambiguous name is an error: a delete must not hit the kind of another operator. */
function ambiguous(name: string, found: readonly NamedKind[]): CliError {
  const names = found.map(({ plural, gvk }) => `"${plural}.${gvk.group}"`);
  return new CliError(`Several kinds are called "${name}"`, {
    hint: `Write which: ${names.join(' or ')}`,
  });
}
