import type { ChildPlan, OperatorPlan, SchemaType } from '#compile';

/** Which parts of an object messages may disclose: a plan of a child or a patch, or one of these constants. */
export interface Disclosure extends Pick<ChildPlan, 'secrecy'> {
  /** Names fields that may be disclosed though values are secret. @default undefined: none */
  readonly type?: SchemaType | undefined;
}

/** No part of the object comes from a Secret. */
export const publicContent: Disclosure = Object.freeze({ secrecy: 'none' });

/** The origin of the content is unknown: the child is no longer in the definition. Its name may be disclosed. */
export const unknownOrigin: Disclosure = Object.freeze({ secrecy: 'content' });

/** The resource itself, its status included. */
export function disclosureOfResource({ secrecy, resourceType }: OperatorPlan): Disclosure {
  return { secrecy, type: resourceType };
}

/** May messages name the object? */
export function isNamePublic({ secrecy }: Disclosure): boolean {
  return secrecy !== 'all';
}

/** An object in a message: `ConfigMap "web"`. */
export function objectText(kind: string, name: string, about: Disclosure): string {
  return isNamePublic(about) ? `${kind} "${name}"` : `the ${kind}`;
}

/** A child in a message: `config "web"`. `name`: empty if it is unknown. */
export function childText(id: string, name: string, about: Disclosure): string {
  return name !== '' && isNamePublic(about) ? `${id} "${name}"` : id;
}

/** The part of a field path that may be disclosed; may be empty. */
export function fieldText(field: string, about: Disclosure): string {
  return about.secrecy === 'none' ? field : publicPart(field, about.type);
}

/** The disclosed parts of several fields, without duplicates. */
export function fieldTexts(fields: readonly string[], about: Disclosure): readonly string[] {
  const disclosed = fields.map((field) => fieldText(field, about));
  return [...new Set(disclosed)].filter((field) => field !== '');
}

/** Fields of every object, for objects without a schema. */
const commonFields: ReadonlySet<string> = new Set([
  'data',
  'stringData',
  'binaryData',
  'metadata',
  'spec',
  'status',
]);
const commonMetadata: ReadonlySet<string> = new Set(['name', 'namespace', 'labels', 'annotations']);

/** `.spec`, `spec`, `[0]`, `[name="web"]`, `[a key]`. */
const fieldStep = /\.?([^.[\]]+)|\[([^\]]*)\]/y;

/**
 * The start of a field path that may be disclosed: names in the schema and list positions. A map key, an unknown field or the key of a list
 * item may each be a value of a Secret.
 */
function publicPart(field: string, type: SchemaType | undefined): string {
  let at: SchemaType | undefined = type;
  let end = 0;
  for (let depth = 0; ; depth++) {
    fieldStep.lastIndex = end;
    const [step, name, place] = fieldStep.exec(field) ?? [];
    if (step === undefined) break;
    if (place === undefined) {
      const known = at?.kind === 'struct' ? at.fields.get(name ?? '') : undefined;
      if (known === undefined && !isCommon(name ?? '', depth, field)) break;
      at = known?.type;
    } else if (/^\d+$/.test(place) && at?.kind === 'list') at = at.item;
    else break;
    end = fieldStep.lastIndex;
  }
  return field.slice(0, end).replace(/^\./, '');
}

function isCommon(name: string, depth: number, field: string): boolean {
  if (depth === 0) return commonFields.has(name);
  return depth === 1 && /^\.?metadata\b/.test(field) && commonMetadata.has(name);
}
