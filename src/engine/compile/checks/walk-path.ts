import type { Finding } from '#definition';
import { didYouMean } from '#util/did-you-mean.ts';
import type { Reference } from '../language/index.ts';
import { type SchemaType, throughLists } from '../schema/schema-type.ts';
import { typeName } from '../template/coerce.ts';
import { fieldsOf, type TemplateNode } from '../template/template.ts';

/** A step of a path that leads nowhere. */
export type Problem = Omit<Finding, 'path' | 'at'> & {
  readonly offset: number;
  /** End of the name that was meant, where it is longer than what was read as a name. */
  readonly endOfMeant?: number;
};

/** What expressions read beside the fields of the resource. */
export const rootNames = ['children', 'observed', 'reads', 'vars'];

/** A path of a reference, or inside `each`. */
type Path = Pick<Reference, 'path' | 'offset' | 'stepOffsets'> & {
  readonly root: Reference['root'] | 'this';
};

interface Walk {
  readonly type: SchemaType | undefined;
  /** Index of the first step to check. */
  readonly from: number;
  /** Additional names for the first step. */
  readonly more?: readonly string[];
  /** In a Handlebars template. @default false */
  readonly isTemplate?: boolean;
}

/** Follows a path through a type. Steps apply to list items, as in expressions. */
export function walkType(
  reference: Path,
  { type: start, from, more = [], isTemplate = false }: Walk,
): Problem | undefined {
  let type = throughLists(start);
  for (let index = from; index < reference.path.length; index++) {
    const step = reference.path[index] ?? '';
    if (type === undefined || type.kind === 'any') return undefined;
    if (type.kind === 'scalar') {
      if (type.accepts.includes('unknown')) return undefined;
      return problemAt(reference, index, {
        message: `"${nameBefore(reference, index)}" is ${typeName(type)} and has no field "${step}"`,
        hint:
          outerHint(reference, index, isTemplate) ??
          (step === 'length' ? lengthHint(nameBefore(reference, index)) : undefined),
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
      const known = [...type.fields.keys(), ...(index === from ? more : [])];
      return problemAt(reference, index, {
        message: `Unknown field "${nameBefore(reference, index + 1)}"`,
        hint: outerHint(reference, index, isTemplate) ?? didYouMean(step, known),
        ...hyphenatedName(reference, index, known),
      });
    }
    type = throughLists(field.type);
  }
  return undefined;
}

/** Inside `[ ]`, `.( )` and `.{ }`, and inside `each` and `with`, names are fields of the element. */
function outerHint(reference: Path, index: number, isTemplate: boolean): string | undefined {
  const { root, path } = reference;
  const isRoot = [...rootNames, 'spec', 'metadata', 'status'].includes(path[index] ?? '');
  const isStart = index > 0 ? !isAfterDot(reference, index) : root === 'this';
  if (!isStart || !isRoot || index + 1 === path.length) return undefined;
  let end = index + 1;
  while (end < path.length && isAfterDot(reference, end)) end++;
  const written = path.slice(index, end).join('.');
  return `Names are fields of the element here; write "${isTemplate ? '@root' : '$$'}.${written}"`;
}

/** Whether there is only a dot between a step and the one before it. */
function isAfterDot({ path, stepOffsets }: Path, index: number): boolean {
  const before = stepOffsets[index - 1] ?? 0;
  return stepOffsets[index] === before + (path[index - 1]?.length ?? 0) + 1;
}

/** `list.length` of other languages. */
function lengthHint(name: string): string {
  return `Write "$count(${name})" for a list, "$length(${name})" for a text`;
}

/** `spec.image-tag` is read as a subtraction. */
function hyphenatedName(
  reference: Path,
  index: number,
  known: readonly string[],
): Pick<Problem, 'hint' | 'endOfMeant'> {
  const step = reference.path[index] ?? '';
  const meant = known.find((name) => name.startsWith(`${step}-`));
  if (meant === undefined || index + 1 < reference.path.length) return {};
  const before = index === 0 ? '' : `${nameBefore(reference, index)}.`;
  return {
    hint: `Write "${before}\`${meant}\`": a name with "-" stands in back-quotes`,
    endOfMeant: (reference.stepOffsets[index] ?? reference.offset) + meant.length,
  };
}

/** A var that is a map without computed keys has exactly its literal fields. */
export function walkVar(reference: Reference, root: TemplateNode | undefined): Problem | undefined {
  let fields = root && fieldsOf(root);
  for (let index = 1; index < reference.path.length; index++) {
    const step = reference.path[index] ?? '';
    if (fields === undefined) return undefined;
    if (!fields.has(step)) {
      return problemAt(reference, index, {
        message: `Unknown field "${nameBefore(reference, index + 1)}"`,
        hint: didYouMean(step, fields.keys()),
      });
    }
    const field = fields.get(step);
    fields = field && fieldsOf(field);
  }
  return undefined;
}

export function walkNames(reference: Reference, known: readonly string[]): Problem | undefined {
  const [step] = reference.path;
  if (step === undefined || known.includes(step)) return undefined;
  return problemAt(reference, 0, {
    message: `Unknown field "${nameBefore(reference, 1)}"`,
    hint: didYouMean(step, known),
  });
}

export function problemAt(
  reference: Path,
  index: number,
  problem: Pick<Problem, 'message' | 'hint' | 'endOfMeant'>,
): Problem {
  return {
    code: 'unknown-path',
    ...problem,
    offset: reference.stepOffsets[index] ?? reference.offset,
  };
}

/** The path as written, up to a step. */
function nameBefore({ root, path }: Path, end: number): string {
  const prefix = {
    resource: [],
    child: ['$child'],
    item: ['$item'],
    previous: ['$previous'],
    definition: ['$definition'],
  }[root as string];
  return [...(prefix ?? [root]), ...path.slice(0, end)].join('.');
}
