import type { JsonObject } from '../../util/json.ts';
import type {
  DefinitionOrigin,
  RefusedText,
  WantedDefinition,
  WantedSet,
} from '../wanted-definition.ts';

/** What the sources say of one text with a name. */
export interface ToldDefinition {
  readonly name: string;
  readonly origin: DefinitionOrigin;
  /** What runs, or is to run. Undefined: nothing of this text ever could. */
  readonly wanted?: WantedDefinition;
  /** Why the newest text is not taken. */
  readonly refused?: RefusedText;
  /** Why nothing is run of it, whatever it says. @default undefined: it is */
  readonly idle?: Idle;
}

/** There is an object, and nothing is run of it. */
export interface Idle {
  /** CamelCase. */
  readonly reason: 'NotRead' | 'Removed';
  readonly message: string;
}

/** What the sources say, by name: a name may be in several texts, of which at most one runs. */
export interface ToldDefinitions {
  /** The text that has the name: the one that runs, else the first that is refused. */
  holderOf(name: string): ToldDefinition | undefined;
  /** The text of the object of that name, which is its own source. */
  ofObject(name: string): ToldDefinition | undefined;
  /** Of each name the text that has it. */
  readonly holders: readonly ToldDefinition[];
  readonly names: ReadonlySet<string>;
  /** Mistakes in texts that cannot be told of on any object: no name can be read, or it is another text's. */
  readonly elsewhere: readonly RefusedText[];
}

/** Arranges what the sources say by the objects that are to show it. Pure. */
export function arrangeTold({ definitions, refusedTexts = [] }: WantedSet): ToldDefinitions {
  const holders = new Map<string, ToldDefinition>();
  const objects = new Map<string, ToldDefinition>();
  const elsewhere: RefusedText[] = [];
  for (const wanted of definitions) {
    const { located, origin } = wanted;
    if (origin === undefined) continue;
    const { name } = located.definition;
    const refused = refusedTexts.find(
      (text) => text.name === name && isSameOrigin(text.origin, origin),
    );
    const told = { name, origin, wanted, ...(refused && { refused }) };
    holders.set(name, told);
    if (origin.source === 'object') objects.set(name, told);
  }
  for (const refused of refusedTexts) {
    const { origin } = refused;
    const name = origin.source === 'object' ? origin.ref : refused.name;
    const told = name === undefined ? undefined : { name, origin, refused };
    const holder = name === undefined ? undefined : holders.get(name);
    if (told !== undefined && holder === undefined) holders.set(told.name, told);
    if (told !== undefined && origin.source === 'object' && !objects.has(told.name)) {
      objects.set(told.name, told);
    } else if (
      told === undefined ||
      (holder !== undefined && !isSameOrigin(holder.origin, origin))
    ) {
      elsewhere.push(refused);
    }
  }
  return {
    holderOf: (name) => holders.get(name),
    ofObject: (name) => objects.get(name),
    holders: [...holders.values()],
    names: new Set([...holders.keys(), ...objects.keys()]),
    elsewhere,
  };
}

export function isSameOrigin(a: DefinitionOrigin, b: DefinitionOrigin): boolean {
  return a.source === b.source && a.ref === b.ref;
}

/** `configmap ns/name/key`: for people, and to tell whether a text has moved. */
export function originText({ source, ref }: DefinitionOrigin): string {
  return source === 'object' ? source : `${source} ${ref}`;
}

/** What a mirror shows, best first: the newest text as it was written, else what runs of it. */
export function documentsOf({ wanted, refused }: ToldDefinition): readonly JsonObject[] {
  const newest = refused?.document;
  const running = wanted?.located.document;
  return [newest, running].filter((document) => document !== undefined);
}
