import type { OperatorDefinition, ReadDefinition } from '#definition';
import type { Gvk } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import { type LeafParser, type ListPath, listSources } from '../language/index.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import type { KindTypes } from '../schema-source.ts';

/** What decides whether the name of a read is a list. */
export interface NameContext {
  readonly definition: Pick<OperatorDefinition, 'children' | 'onDelete' | 'reads' | 'vars'>;
  readonly types: Pick<KindTypes, 'root' | 'typeOf'>;
  readonly parser: LeafParser;
}

/** So many vars and reads are followed that refer to another one. */
const maxLinks = 20;

/**
 * Whether the value of a read is a list: it has a `selector`, or its `name` is a list. That is one as it is written, or an expression whose
 * form or whose paths show it: a list of one name is a list, too. What is not known is one name.
 */
export function isListRead({ by }: Pick<ReadDefinition, 'by'>, context: NameContext): boolean {
  return by.kind === 'selector' || new Names(context).isList(by.name, [], 0);
}

/** Follows values of a definition. `links`: how many vars and reads led to it. */
class Names {
  readonly #context: NameContext;

  constructor(context: NameContext) {
    this.#context = context;
  }

  /** Whether there is a list at a path below a value as it is written, or on the way to it. */
  isList(value: unknown, path: ListPath, links: number): boolean {
    const [step, ...below] = path;
    if (Array.isArray(value)) return typeof step !== 'number';
    if (isJsonObject(value))
      return typeof step === 'string' && this.isList(value[step], below, links);
    if (typeof value !== 'string' || !value.includes('${') || links > maxLinks) return false;
    const { leaf } = this.#context.parser.parse(value);
    if (leaf?.kind !== 'value') return false;
    let found = false;
    leaf.expression.probe?.((tree) => {
      found = listSources(tree).some((source) =>
        source === 'form' ? typeof step !== 'number' : this.#leads([...source, ...path], links),
      );
      return new Map();
    });
    return found;
  }

  #leads([root = '', ...rest]: ListPath, links: number): boolean {
    const { children, onDelete, reads, vars } = this.#context.definition;
    const [id, ...below] = rest;
    switch (root) {
      case 'history':
        return id !== 0;
      case 'vars':
        return this.isList(vars, rest, links + 1);
      case 'reads': {
        const read = reads.find((each) => each.id === id);
        if (read === undefined) return false;
        const { by } = read;
        const isList = by.kind === 'selector' || this.isList(by.name, [], links + 1);
        return this.#isListIn({ gvk: read.gvk, isList }, below);
      }
      case 'children':
      case 'observed': {
        const child = [...children, ...(onDelete?.children ?? [])].find((each) => each.id === id);
        if (child === undefined) return false;
        return this.#isListIn({ gvk: child.gvk, isList: child.forEach !== undefined }, below);
      }
      default:
        return isListAt(this.#context.types.root, [root, ...rest]);
    }
  }

  /** Of one object, or a list of objects. */
  #isListIn(
    { gvk, isList }: { readonly gvk: Gvk; readonly isList: boolean },
    path: ListPath,
  ): boolean {
    if (!isList) return isListAt(this.#context.types.typeOf(gvk), path);
    return typeof path[0] !== 'number' || isListAt(this.#context.types.typeOf(gvk), path.slice(1));
  }
}

/** Whether there is a list at a path, or on the way to it. */
function isListAt(start: SchemaType | undefined, path: ListPath): boolean {
  let type = start;
  for (const step of path) {
    if (type?.kind === 'list') {
      if (typeof step === 'string') return true;
      type = type.item;
    } else if (typeof step === 'string') {
      if (type?.kind === 'struct') type = type.fields.get(step)?.type;
      else if (type?.kind === 'map') type = type.item;
      else return false;
    }
  }
  return type?.kind === 'list';
}
