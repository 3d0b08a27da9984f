import type { SchemaType, StructField, StructType } from '#compile';
import type { AdmissionOperation } from '#definition';
import { type CelNode, literalOf } from '#sandbox';
import { didYouMean } from '#util/did-you-mean.ts';
import { nodesIn } from './cel-nodes.ts';
import { type Facts, factsWhere, pathOf } from './known-facts.ts';

/** A mistake in an expression. */
export interface RuleProblem {
  /** `unknown-path`: no such field; `optional-parent`: a value that may be missing. */
  readonly code: 'unknown-path' | 'optional-parent';
  /** Offset in the expression. */
  readonly offset: number;
  readonly message: string;
  readonly hint?: string | undefined;
  /** @default 'error' */
  readonly severity?: 'warning';
}

export interface GuardOptions {
  /** The type of `object` and `oldObject`. */
  readonly resource: SchemaType | undefined;
  readonly operations: readonly AdmissionOperation[];
  /** The kind belongs to others: its API server may set defaults and require fields, which no schema shows. */
  readonly isForeign: boolean;
  /** It is evaluated before the server completes a new object. @default false */
  readonly isBeforeCompletion?: boolean;
}

/**
 * Where a rule reads a field that the schema does not have, or a value that may be missing, without a guard: such a rule fails in the API
 * server with an error that no user understands.
 */
export function guardProblems(node: CelNode, options: GuardOptions): readonly RuleProblem[] {
  return checkGuards(node, options).problems;
}

/** The problems of an expression, with what is known of its result. */
export function checkGuards(
  node: CelNode,
  options: GuardOptions,
): { readonly problems: readonly RuleProblem[]; readonly result: RuleValue } {
  const walk = new GuardWalk(options);
  const facts = { operations: new Set(options.operations), present: new Set<string>() };
  const result = walk.visit(node, { facts, variables: new Map() });
  return { problems: walk.problems, result };
}

interface Scope {
  readonly facts: Facts;
  /** Types of the variables of macros. */
  readonly variables: ReadonlyMap<string, SchemaType | undefined>;
}

/** What an expression results in. */
export interface RuleValue {
  /** Undefined: unknown. */
  readonly type?: SchemaType | undefined;
  /** It is an optional value. */
  readonly isOptional?: boolean;
}

const roots: ReadonlyMap<string, AdmissionOperation> = new Map([
  ['object', 'Delete'],
  ['oldObject', 'Create'],
]);

/** Fields of `metadata` that an object need not have. */
const optionalMetadata: ReadonlySet<string> = new Set([
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generateName',
]);

/** Fields of `metadata` that the server sets in a new object after its defaults; `name` with `generateName`. */
const completedMetadata: ReadonlySet<string> = new Set([
  ...['name', 'uid', 'creationTimestamp', 'resourceVersion', 'generation'],
]);

/** Macros whose first argument is a variable for the items. */
const macros: ReadonlySet<string> = new Set([
  ...['all', 'exists', 'exists_one', 'existsOne', 'map', 'filter', 'optMap', 'optFlatMap'],
]);

/** Functions of optional values. */
const ofOptional: ReadonlySet<string> = new Set([
  ...['orValue', 'or', 'value', 'hasValue', 'optMap', 'optFlatMap'],
]);

class GuardWalk {
  readonly problems: RuleProblem[] = [];
  readonly #resource: SchemaType | undefined;
  /** Of a value that may be missing. */
  readonly #severity: Pick<RuleProblem, 'severity'>;

  readonly #isBeforeCompletion: boolean;

  constructor({ resource, isForeign, isBeforeCompletion = false }: GuardOptions) {
    this.#resource = resource;
    this.#isBeforeCompletion = isBeforeCompletion;
    this.#severity = isForeign ? { severity: 'warning' } : {};
  }

  visit(node: CelNode, scope: Scope): RuleValue {
    switch (node.op) {
      case 'value':
        return {};
      case 'id':
        return this.#variable(node.args, scope);
      case '.':
      case '.?':
        return this.#select(node, scope);
      case '[]':
      case '[?]':
        return this.#index(node, scope);
      case '&&':
      case '||':
        return this.#logical(node, scope);
      case '?:': {
        const [condition, yes, no] = node.args;
        this.visit(condition, scope);
        const value = this.visit(yes, where(condition, true, scope));
        this.visit(no, where(condition, false, scope));
        return value;
      }
      case 'call': {
        const [name, args] = node.args;
        const [first] = args;
        if (name === 'has' && first !== undefined) this.#test(first, scope);
        else for (const each of args) this.visit(each, scope);
        return {};
      }
      case 'rcall':
        return this.#call(node, scope);
      default:
        for (const each of nodesIn(node.args)) this.visit(each, scope);
        return {};
    }
  }

  #variable(name: string, { variables }: Scope): RuleValue {
    if (variables.has(name)) return { type: variables.get(name) };
    return roots.has(name) ? { type: this.#resource } : {};
  }

  /** Each side guards the other one: an error of one is lost where the other decides. */
  #logical(node: Extract<CelNode, { op: '&&' | '||' }>, scope: Scope): RuleValue {
    const [left, right] = node.args;
    const isAnd = node.op === '&&';
    this.visit(left, where(right, isAnd, scope));
    this.visit(right, where(left, isAnd, scope));
    return {};
  }

  /** The argument of `has`: only the last field may be missing. */
  #test(node: CelNode, scope: Scope): void {
    if (node.op !== '.') {
      this.visit(node, scope);
      return;
    }
    const [object, name] = node.args;
    this.#field(node, { value: this.#object(object, scope), name, scope, isGuarded: true });
  }

  #select(node: Extract<CelNode, { op: '.' | '.?' }>, scope: Scope): RuleValue {
    const [object, field] = node.args;
    const name = typeof field === 'string' ? field : String(literalOf(field as CelNode) ?? '');
    const value = this.#object(object, scope);
    const isGuarded = node.op === '.?' || value.isOptional === true;
    if (!isGuarded) this.#checkRequestName(node, scope);
    const type = this.#field(node, { value, name, scope, isGuarded });
    return { type, isOptional: isGuarded };
  }

  /** The name of a new object with "generateName" is generated after its defaults. */
  #checkRequestName(node: CelNode, { facts: { operations, present } }: Scope): void {
    if (!this.#isBeforeCompletion || pathOf(node) !== 'request.name') return;
    if (present.has('request.name')) return;
    if (!operations.has('Create') || present.has('oldObject')) return;
    this.problems.push({
      ...this.#severity,
      code: 'optional-parent',
      offset: offsetOfName(node, 'name'),
      message: '"request.name" is missing in a request that creates an object with "generateName"',
      hint: 'Write "request.?name.orValue(...)", or test it first: "has(request.name) && ..."',
    });
  }

  /** The object of a selection: `oldObject` is null in a request that creates. */
  #object(node: CelNode, scope: Scope): RuleValue {
    const missing = node.op === 'id' ? roots.get(node.args) : undefined;
    const { operations, present } = scope.facts;
    if (node.op === 'id' && missing !== undefined && operations.has(missing)) {
      if (!present.has(node.args)) this.#reportRoot(node, missing);
    }
    return this.visit(node, scope);
  }

  #reportRoot(node: CelNode, missing: AdmissionOperation): void {
    const name = String(node.args);
    const verb = missing === 'Create' ? 'creates' : 'deletes';
    this.problems.push({
      code: 'optional-parent',
      offset: node.start,
      message: `"${name}" is null in a request that ${verb} the object`,
      hint:
        missing === 'Delete'
          ? 'Use "oldObject" in rules for "Delete", or write "object == null || ..."'
          : `Write "${name} == null || ...", or limit the rule with "operations" to [Update]`,
    });
  }

  /** Reports a field that does not exist or may be missing. Returns its type. */
  #field(
    node: Extract<CelNode, { op: '.' | '.?' }>,
    { value, name, scope, isGuarded }: FieldUse,
  ): SchemaType | undefined {
    const type = value.type?.kind === 'branch' ? value.type.either : value.type;
    if (type?.kind === 'map') {
      if (!isGuarded) this.#checkPresent(node, name, scope);
      return type.item;
    }
    if (type?.kind !== 'struct') return undefined;
    const field = fieldNamed(type, name);
    const offset = offsetOfName(node, name);
    if (field === undefined) {
      if (!type.open && type.fields.size > 0)
        this.problems.push({
          code: 'unknown-path',
          offset,
          message: `Unknown field "${name}"`,
          hint: didYouMean(name, [...type.fields.keys()]),
        });
      return undefined;
    }
    const isIncomplete = this.#isIncomplete(node, scope);
    if (!isGuarded && (isIncomplete || mayMiss(type, name, field)))
      this.#checkPresent(node, name, scope);
    return field.type;
  }

  #isIncomplete(node: CelNode, { facts }: Scope): boolean {
    const isNew = facts.operations.has('Create') && !facts.present.has('oldObject');
    if (!this.#isBeforeCompletion || !isNew) return false;
    const [root, metadata, field = '', ...more] = pathOf(node)?.split('.') ?? [];
    const isOfObject = root === 'object' && metadata === 'metadata' && more.length === 0;
    return isOfObject && completedMetadata.has(field);
  }

  #checkPresent(node: CelNode, name: string, { facts }: Scope): void {
    const path = pathOf(node);
    if (path !== undefined && facts.present.has(path)) return;
    const object = node.op === '.' ? pathOf(node.args[0]) : undefined;
    const optional = object === undefined ? `.?${name}` : `${object}.?${name}`;
    this.problems.push({
      ...this.#severity,
      code: 'optional-parent',
      offset: offsetOfName(node, name),
      message: `"${path ?? name}" may be missing`,
      hint: `Write "${optional}" with "orValue(...)", or test it first: "has(${path ?? name}) && ..."`,
    });
  }

  #index(node: Extract<CelNode, { op: '[]' | '[?]' }>, scope: Scope): RuleValue {
    const [object, key] = node.args;
    const value = this.visit(object, scope);
    this.visit(key, scope);
    const isGuarded = node.op === '[?]' || value.isOptional === true;
    const type = value.type?.kind === 'branch' ? value.type.either : value.type;
    const literal = literalOf(key);
    if (!isGuarded && type?.kind === 'map' && typeof literal === 'string') {
      const path = pathOf(node);
      if (path === undefined || !scope.facts.present.has(path))
        this.problems.push({
          ...this.#severity,
          code: 'optional-parent',
          offset: key.start,
          message: `The key "${literal}" may be missing`,
          hint: `Write "[?'${literal}']" with "orValue(...)", or test it first: "'${literal}' in ${pathOf(object) ?? '...'} && ..."`,
        });
    }
    const item = type?.kind === 'list' || type?.kind === 'map' ? type.item : undefined;
    return { type: item, isOptional: isGuarded };
  }

  #call(node: Extract<CelNode, { op: 'rcall' }>, scope: Scope): RuleValue {
    const [name, object, args] = node.args;
    const value = this.visit(object, scope);
    if (value.isOptional && !ofOptional.has(name))
      this.problems.push({
        code: 'optional-parent',
        offset: object.start,
        message: `An optional value has no function "${name}"`,
        hint: `Write "orValue(...)" before ".${name}(...)"`,
      });
    const [first, ...rest] = args;
    if (macros.has(name) && first?.op === 'id' && rest.length > 0) {
      const item = value.isOptional ? value.type : itemOf(value.type);
      // A second variable is the value of a map or the item of a list.
      const [second, ...inner] = rest;
      const isPair = second?.op === 'id' && inner.length > 0;
      const variables = new Map(scope.variables).set(first.args, isPair ? undefined : item);
      if (isPair) variables.set(second.args, itemsOf(value.type));
      for (const each of isPair ? inner : rest) this.visit(each, { ...scope, variables });
      return name === 'filter' ? value : {};
    }
    for (const each of args) this.visit(each, scope);
    if (name === 'orValue' || name === 'value') return { type: value.type };
    return name === 'or' ? value : {};
  }
}

interface FieldUse {
  readonly value: RuleValue;
  readonly name: string;
  readonly scope: Scope;
  /** A missing field is no error. */
  readonly isGuarded: boolean;
}

function where(condition: CelNode, outcome: boolean, scope: Scope): Scope {
  return { ...scope, facts: factsWhere(condition, outcome, scope.facts) };
}

/** The items of a list; the keys of a map are texts. */
function itemOf(type: SchemaType | undefined): SchemaType | undefined {
  return type?.kind === 'list' ? type.item : undefined;
}

function itemsOf(type: SchemaType | undefined): SchemaType | undefined {
  return type?.kind === 'list' || type?.kind === 'map' ? type.item : undefined;
}

/** Names that CEL cannot select are written in another way. */
function fieldNamed(type: StructType, name: string): StructField | undefined {
  const found = type.fields.get(name);
  if (found !== undefined || !name.includes('__')) return found;
  const plain = name
    .replaceAll('__dash__', '-')
    .replaceAll('__dot__', '.')
    .replaceAll('__slash__', '/')
    .replaceAll('__underscores__', '__');
  return type.fields.get(plain) ?? type.fields.get(/^__(\w+?)__$/.exec(plain)?.[1] ?? '');
}

function mayMiss({ name, required }: StructType, field: string, found: StructField): boolean {
  if (name.endsWith('ObjectMeta')) return optionalMetadata.has(field);
  if (['apiVersion', 'kind', 'metadata'].includes(field)) return false;
  return !required.includes(field) && found.defaultValue === undefined;
}

/** Where the name of the selected field is. */
function offsetOfName(node: CelNode, name: string): number {
  const end = node.end > node.start ? node.end : node.start + name.length;
  const at = node.input.lastIndexOf(name, end);
  return at < node.start ? node.start : at;
}
