import { type Finding, isPlaced } from '#definition';
import type { CheckContext } from '../check-context.ts';
import { type CompiledRead, templatesOfRead } from '../compiled-templates.ts';
import type { CompiledTemplate, SlotReference } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import type { UsedParts } from './install-definition.ts';

interface ScopeContext extends Pick<CheckContext, 'parts' | 'templates' | 'uses' | 'schemas'> {
  /** Ids of the children of resources. */
  readonly childrenOfResources: ReadonlySet<string>;
}

/** What the objects of `install` use, and what they cannot use. */
export interface InstallScope {
  readonly used: UsedParts;
  readonly findings: readonly Finding[];
}

const advice = 'It can read "definition.metadata", and reads and vars that need no resource';

/** Follows what the objects of `install` read. There is no resource: neither they nor what they use may read one. */
export function scopeOfInstall(context: ScopeContext): InstallScope {
  const { parts, templates, uses } = context;
  const vars = new Set<string>();
  const reads = new Set<string>();
  const findings: Finding[] = [];

  function collect(...of: readonly (CompiledTemplate | undefined)[]): void {
    const found = uses.of(...of);
    for (const name of found.vars) vars.add(name);
    for (const id of found.reads) {
      if (reads.has(id)) continue;
      reads.add(id);
      const read = readOf(id, context);
      if (read !== undefined) collect(...templatesOfRead(read));
    }
  }

  for (const { template, child } of templates) {
    if (child === undefined) continue;
    const own = template.references.flatMap((each) => problemOf(each, context));
    findings.push(...own);
    if (own.length === 0) collect(template);
  }
  return { used: { vars: known(vars, parts.vars), reads }, findings };
}

function known(names: ReadonlySet<string>, all: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  return new Set([...names].filter((name) => all.has(name)));
}

function problemOf({ slot, reference }: SlotReference, context: ScopeContext): readonly Finding[] {
  const { root, path, offset } = reference;
  const at = positionInLeaf(slot, offset);
  if (root === 'resource') {
    if (path[0] === 'definition') return [];
    const what = path.length === 0 ? 'it cannot be read' : `"${path.join('.')}" cannot be read`;
    const message = `Objects of "install" belong to the definition and have no resource: ${what}`;
    const hint = path[0] === 'metadata' ? `Did you mean "definition.${path.join('.')}"?` : advice;
    return [{ code: 'unknown-path', message, hint, ...at }];
  }
  const [id] = path;
  if ((root === 'children' || root === 'observed') && isOfResources(id, context)) {
    const message = `Child "${id}" belongs to a resource, which "install" does not have`;
    const hint = `In "install", "${root}" has its other objects`;
    return [{ code: 'unknown-name', message, hint, ...at }];
  }
  if (root !== 'vars' && root !== 'reads') return [];
  const why = id === undefined ? `it reads all ${root}` : needs(root, id, context, new Set());
  if (why === undefined) return [];
  const name = id === undefined ? root : `${root}.${id}`;
  const message = `"${name}" needs a resource, which "install" does not have: ${why}`;
  return [{ code: 'unknown-path', message, hint: advice, ...at }];
}

function isOfResources(
  id: string | undefined,
  { parts, childrenOfResources }: ScopeContext,
): boolean {
  if (id === undefined || !childrenOfResources.has(id)) return false;
  return !parts.children.some(({ definition }) => definition.id === id);
}

/** Why a var or read needs a resource; undefined: it does not. */
function needs(
  root: 'vars' | 'reads',
  id: string,
  context: ScopeContext,
  entered: Set<string>,
): string | undefined {
  const name = `${root}.${id}`;
  // A cycle has been reported.
  if (entered.has(name)) return undefined;
  entered.add(name);
  if (root === 'vars') return needsOf([context.parts.vars.get(id)], context, entered);
  const read = readOf(id, context);
  if (read === undefined) return undefined;
  const { from, gvk } = read.definition;
  if (isPlaced(read.definition)) return 'it is in a member cluster';
  if (from.kind === 'own' && context.schemas?.isNamespaced(gvk) === true)
    return 'it reads from the namespace of the resource';
  return needsOf(templatesOfRead(read), context, entered);
}

function needsOf(
  templates: readonly (CompiledTemplate | undefined)[],
  context: ScopeContext,
  entered: Set<string>,
): string | undefined {
  for (const { reference } of templates.flatMap((each) => each?.references ?? [])) {
    const { root, path } = reference;
    const [id] = path;
    if (root === 'resource')
      return path.length === 0 ? 'it reads the resource' : `it reads "${path.join('.')}"`;
    if (root === 'children' || root === 'observed')
      return `it reads "${[root, ...path].join('.')}"`;
    if (root !== 'vars' && root !== 'reads') continue;
    const why = id === undefined ? `it reads all ${root}` : needs(root, id, context, entered);
    if (why !== undefined) return why;
  }
  return undefined;
}

function readOf(id: string, { parts }: ScopeContext): CompiledRead | undefined {
  return parts.reads.find(({ definition }) => definition.id === id);
}
