import type { ChildPlan, OperatorPlan, SchemaType } from '../compile/index.ts';

/** What decides what messages may say of an object: a plan of a child or a patch, or one of these constants. */
export interface Confidence extends Pick<ChildPlan, 'secrecy'> {
  /** Names the fields that may be told though the rest is secret. @default undefined: none is known */
  readonly type?: SchemaType | undefined;
}

/** Nothing of it comes from a Secret. */
export const open: Confidence = Object.freeze({ secrecy: 'none' });

/** Nobody can say any more what it was made of: its child is not in the definition. It is told by name all the same. */
export const unaccounted: Confidence = Object.freeze({ secrecy: 'content' });

/** The resource itself, its status included. */
export function ofResource({ secrecy, resourceType }: OperatorPlan): Confidence {
  return { secrecy, type: resourceType };
}

/** May its name be told? */
export function isNameOpen({ secrecy }: Confidence): boolean {
  return secrecy !== 'all';
}

/** An object in a message: `ConfigMap "web"`. */
export function objectText(kind: string, name: string, about: Confidence): string {
  return isNameOpen(about) ? `${kind} "${name}"` : `the ${kind}`;
}

/** A child in a message: `config "web"`. `name`: empty where it is not known. */
export function childText(id: string, name: string, about: Confidence): string {
  return name !== '' && isNameOpen(about) ? `${id} "${name}"` : id;
}

/** A field as a message may call it; empty: not at all. */
export function fieldText(field: string, about: Confidence): string {
  return about.secrecy === 'none' ? field : knownPart(field, about.type);
}

/** Several of them, each once. */
export function fieldTexts(fields: readonly string[], about: Confidence): readonly string[] {
  const told = fields.map((field) => fieldText(field, about));
  return [...new Set(told)].filter((field) => field !== '');
}

/** What every object has, where no schema says so. */
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
 * The beginning of a field that can be told: what the schema names, and places in lists. A key of a map, an unknown field and what tells items
 * apart may each be a value of a Secret.
 */
function knownPart(field: string, type: SchemaType | undefined): string {
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
