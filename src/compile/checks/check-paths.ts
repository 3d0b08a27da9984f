import type { Finding } from '../../definition/index.ts';
import { didYouMean } from '../../util/did-you-mean.ts';
import type { DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { Reference } from '../language/index.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import { nameOf } from '../template/fit.ts';
import { positionInLeaf } from '../template/slot-position.ts';
import { referencesOf, type TemplateNode } from '../template/template.ts';
import { seesPrevious } from './report-uses.ts';
import { type TemplateUse, templateUses } from './template-use.ts';

export interface PathsOptions {
  readonly parts: DefinitionParts;
  readonly resource: SchemaType;
  readonly diagnostics: Diagnostics;
}

type Problem = Omit<Finding, 'path' | 'at'> & { readonly offset: number };

/** Reports paths that the schema of the resource, of a child or of a read does not have. */
export function checkPaths({ parts, resource, diagnostics }: PathsOptions): void {
  const children = new Map(parts.children.map((child) => [child.definition.id, child.type]));
  const reads = new Map(parts.reads.map((read) => [read.definition.id, read.type]));

  function problemOf(reference: Reference, use: TemplateUse): Problem | undefined {
    const { root, path } = reference;
    const [id = ''] = path;
    switch (root) {
      case 'resource':
        return withoutDollar(
          walkType(reference, { type: resource, from: 0, more: besideResource }),
          reference,
        );
      case 'previous':
        return seesPrevious(use.role)
          ? walkType(reference, { type: resource, from: 0 })
          : undefined;
      case 'children':
      case 'observed':
        return walkType(reference, { type: children.get(id), from: 1 });
      case 'reads':
        return walkType(reference, { type: reads.get(id), from: 1 });
      case 'child':
        return walkType(reference, { type: use.child?.type, from: 0 });
      case 'vars':
        return walkVar(reference, parts.vars.get(id)?.root);
      case 'definition':
        return walkNames(reference, definitionFields);
      default:
        return undefined;
    }
  }

  for (const use of templateUses(parts)) {
    const found = referencesOf(use.template).map((each) => ({
      ...each,
      problem: problemOf(each.reference, use),
    }));
    for (const { slot, reference, problem } of found) {
      if (problem === undefined || isPastMix(reference, problem)) continue;
      const { offset, ...mistake } = problem;
      // The same step from another value (`(a ? children.x : children.y).status.z`) may be the one that is meant.
      const isElsewhere = found.some(
        (other) =>
          other.slot === slot &&
          other.problem === undefined &&
          other.reference.stepOffsets.includes(offset),
      );
      if (!isElsewhere) diagnostics.report({ ...mistake, ...positionInLeaf(slot, offset) });
    }
  }
}

/** What is missing may be no more than the `$`: `item.name` is a field of the resource. */
function withoutDollar(problem: Problem | undefined, { path: [id = ''], offset }: Reference) {
  const isMeant = problem?.offset === offset && variables.includes(id);
  return isMeant ? { ...problem, hint: `Did you mean "$${id}"?` } : problem;
}

/** Is the step behind the place where other values come in? */
function isPastMix({ mixedFrom, stepOffsets }: Reference, { offset }: Problem): boolean {
  return mixedFrom !== undefined && stepOffsets.indexOf(offset) >= mixedFrom;
}

const besideResource = ['children', 'observed', 'reads', 'vars'];
const variables = ['item', 'index', 'child', 'previous', 'self', 'definition', 'cluster'];
const definitionFields = ['name', 'revision'];

interface Walk {
  readonly type: SchemaType | undefined;
  /** The step to begin with. */
  readonly from: number;
  /** Names that are there besides the fields of the first step. */
  readonly more?: readonly string[];
}

/** Lists are transparent, as they are for expressions. */
function walkType(
  reference: Reference,
  { type: start, from, more = [] }: Walk,
): Problem | undefined {
  let type = throughLists(start);
  for (let index = from; index < reference.path.length; index++) {
    const step = reference.path[index] ?? '';
    if (type === undefined || type.kind === 'any') return undefined;
    if (type.kind === 'scalar') {
      if (type.accepts.includes('unknown')) return undefined;
      return problemAt(reference, index, {
        message: `"${nameBefore(reference, index)}" is ${nameOf(type)} and has no field "${step}"`,
      });
    }
    if (type.kind === 'map') {
      type = throughLists(type.item);
      continue;
    }
    if (type.kind !== 'struct') return undefined;
    const field = type.fields.get(step);
    if (field === undefined) {
      if (type.open) return undefined;
      const known = index === from ? [...type.fields.keys(), ...more] : type.fields.keys();
      return problemAt(reference, index, {
        message: `Unknown field "${nameBefore(reference, index + 1)}"`,
        hint: didYouMean(step, known),
      });
    }
    type = throughLists(field.type);
  }
  return undefined;
}

function throughLists(type: SchemaType | undefined): SchemaType | undefined {
  let inner = type;
  while (inner?.kind === 'list') inner = inner.item;
  return inner?.kind === 'branch' ? inner.either : inner;
}

/** A var that is a map without computed keys has just the fields that are written. */
function walkVar(reference: Reference, root: TemplateNode | undefined): Problem | undefined {
  let fields = fieldsOf(root);
  for (let index = 1; index < reference.path.length; index++) {
    const step = reference.path[index] ?? '';
    if (fields === undefined) return undefined;
    if (!fields.has(step)) {
      return problemAt(reference, index, {
        message: `Unknown field "${nameBefore(reference, index + 1)}"`,
        hint: didYouMean(step, fields.keys()),
      });
    }
    fields = fieldsOf(fields.get(step));
  }
  return undefined;
}

/** Undefined when they are not known. */
function fieldsOf(node: TemplateNode | undefined): ReadonlyMap<string, TemplateNode> | undefined {
  if (node?.kind === 'constant') {
    const { value } = node;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return new Map(
      Object.entries(value).map(([key, field]) => [key, { kind: 'constant', value: field }]),
    );
  }
  if (node?.kind !== 'map') return undefined;
  const fields = new Map<string, TemplateNode>();
  for (const { key, node: field } of node.entries) {
    if (typeof key !== 'string') return undefined;
    fields.set(key, field);
  }
  return fields;
}

function walkNames(reference: Reference, known: readonly string[]): Problem | undefined {
  const [step] = reference.path;
  if (step === undefined || known.includes(step)) return undefined;
  return problemAt(reference, 0, {
    message: `Unknown field "${nameBefore(reference, 1)}"`,
    hint: didYouMean(step, known),
  });
}

function problemAt(
  reference: Reference,
  index: number,
  problem: Pick<Finding, 'message' | 'hint'>,
): Problem {
  return {
    code: 'unknown-path',
    ...problem,
    offset: reference.stepOffsets[index] ?? reference.offset,
  };
}

/** The path as written, up to a step. */
function nameBefore({ root, path }: Reference, end: number): string {
  const prefix = {
    resource: [],
    child: ['$child'],
    previous: ['$previous'],
    definition: ['$definition'],
  }[root as string];
  return [...(prefix ?? [root]), ...path.slice(0, end)].join('.');
}
