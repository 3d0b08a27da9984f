import type { DependencyFinder } from '../analysis/dependencies.ts';
import type { CheckContext } from '../check-context.ts';
import {
  type CompiledChild,
  type CompiledTemplates,
  templatesOfRead,
} from '../compiled-templates.ts';
import type { PlainPath, Reference } from '../language/index.ts';
import { createNeededPaths, type NeededPaths, slotsBehind } from '../phase/reached-paths.ts';
import { pathText } from '../phase/required-paths.ts';
import { type CompiledTemplate, referencesOf, type Slot } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import { targetTemplates } from '../template-uses.ts';

/**
 * Warns about a template that needs a value of a child whose `when` may be false: it fails then. Not where its own conditions read the same
 * fields as that `when`: they probably imply it.
 */
export function warnAboutUndesired({ parts, uses, diagnostics }: CheckContext): void {
  const conditional = parts.children.filter(({ stage, when }) => stage === 'always' && when);
  if (conditional.length === 0) return;
  const needed = createNeededPaths();
  const known = new Set<string>();
  for (const reader of readersIn(parts)) {
    const guards = fieldsIn(uses, reader.guards);
    for (const { slot, path } of neededChildren(reader.templates, { parts, needed })) {
      const [, id = ''] = path.steps;
      const child = conditional.find(({ definition }) => definition.id === id);
      // Each child once.
      const key = `${reader.short} ${id}`;
      if (child === undefined || known.has(key) || isEmptyList(child, slot)) continue;
      if (isGuarded(child, guards, uses)) continue;
      known.add(key);
      const found = referencesOf([slot]).find(({ reference }) => isOf(reference, id));
      diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: `${reader.name} fails where "when" of child "${id}" is false: it needs "${pathText(path)}"`,
        hint: `Repeat that condition in the "when" of ${reader.short}, or handle a missing value: "??", "$exists(children.${id})" or "\${? }"`,
        ...positionInLeaf(slot, found?.reference.offset ?? 0),
      });
    }
  }
}

/** A part of a definition that is an error without a value that it needs. */
interface Reader {
  /** At the beginning of a sentence. */
  readonly name: string;
  readonly short: string;
  readonly templates: readonly (CompiledTemplate | undefined)[];
  /** Decide whether the templates are evaluated. */
  readonly guards: readonly (CompiledTemplate | undefined)[];
}

/** Reports omit such a value. "when" that reads a child has a warning of its own. */
function readersIn({ children, reporting }: CompiledTemplates): readonly Reader[] {
  return [
    ...children.flatMap(({ definition, stage, when, forEach, cluster, template }) => {
      if (stage === 'onDelete') return [];
      const short = `child "${definition.id}"`;
      const names = { name: `Child "${definition.id}"`, short };
      return [
        { ...names, templates: [forEach], guards: [when] },
        { ...names, templates: [cluster, template], guards: [when, forEach] },
      ];
    }),
    ...reporting.patches.flatMap((patch) => {
      const short = `patch "${patch.definition.id}"`;
      const names = { name: `Patch "${patch.definition.id}"`, short };
      const { when, forEach, once } = patch;
      return [
        { ...names, templates: [forEach], guards: [when] },
        {
          ...names,
          templates: [...targetTemplates(patch), patch.patch],
          guards: [when, forEach, once],
        },
      ];
    }),
  ];
}

interface NeededChild {
  readonly slot: Slot;
  /** Begins with `children.<id>`. */
  readonly path: PlainPath;
}

interface Search {
  readonly parts: CompiledTemplates;
  readonly needed: (slot: Slot) => NeededPaths;
}

/** The values of children that every evaluation needs, also through vars and reads. */
function* neededChildren(
  templates: Reader['templates'],
  { parts, needed }: Search,
): Generator<NeededChild> {
  const slots = new Set(templates.flatMap((template) => template?.slots ?? []));
  // The loop appends to this set.
  for (const slot of slots) {
    if (mayBeOmitted(slot)) continue;
    const { always } = needed(slot);
    for (const behind of slotsBehind(always, parts.vars)) slots.add(behind);
    for (const path of always) {
      if (path.variable !== '$') continue;
      const [root, id] = path.steps;
      if (root === 'children' && id !== undefined) yield { slot, path };
      if (root === 'reads') for (const behind of slotsOfRead(id, parts)) slots.add(behind);
    }
  }
}

/** `${? }`, and blocks of Handlebars, which may test the value. */
function mayBeOmitted({ leaf, text }: Slot): boolean {
  if (leaf.kind === 'handlebars') return /\{\{~?[#^]/.test(text);
  return leaf.kind === 'value' && leaf.mode === 'optional';
}

/** An optional read whose name is missing is absent. */
function slotsOfRead(id: string | undefined, { reads }: CompiledTemplates): readonly Slot[] {
  const read = reads.find(({ definition }) => definition.id === id);
  if (read === undefined || read.definition.optional) return [];
  return templatesOfRead(read).flatMap(({ slots }) => slots);
}

/** Where a list is needed, no elements are an empty one. */
function isEmptyList({ forEach }: CompiledChild, { role, type }: Slot): boolean {
  return forEach !== undefined && (role === 'spread' || type?.kind === 'list');
}

type Field = Pick<Reference, 'root' | 'path'>;

/** What conditions read, with what their vars read. */
function fieldsIn(uses: DependencyFinder, templates: Reader['guards']): readonly Field[] {
  return uses
    .of(...templates)
    .references.map(({ reference }) => reference)
    .filter(({ root, path }) => root !== 'vars' || path.length === 0);
}

/** Whether conditions read the child, or everything that its `when` reads. */
function isGuarded(
  { definition, when }: CompiledChild,
  guards: readonly Field[],
  uses: DependencyFinder,
): boolean {
  if (guards.some((field) => isOf(field, definition.id))) return true;
  const fields = fieldsIn(uses, [when]);
  if (fields.length > 0)
    return fields.every((field) => guards.some((guard) => isRelated(field, guard)));
  return isAlways(when);
}

function isAlways(when: CompiledTemplate | undefined): boolean {
  return when?.root.kind === 'constant' && when.root.value === true;
}

/** One contains the other. */
function isRelated(a: Field, b: Field): boolean {
  const length = Math.min(a.path.length, b.path.length);
  return a.root === b.root && a.path.slice(0, length).every((step, at) => step === b.path[at]);
}

function isOf({ root, path: [first] }: Field, id: string): boolean {
  return root === 'children' && (first === undefined || first === id);
}
