import { kindsOf, type PatchTarget } from '#definition';
import { type Gvk, gvkKey } from '#util/gvk.ts';
import type { CheckContext } from '../check-context.ts';
import { type CompiledPatch, isSecret, templatesOfRead } from '../compiled-templates.ts';
import type { Secrecy } from '../operator-plan.ts';
import {
  type CompiledTemplate,
  type Slot,
  type SlotReference,
  slotTemplate,
} from '../template/template.ts';
import { targetTemplates } from '../template-uses.ts';
import { idsOfPath } from './dependencies.ts';
import { exposedReferences } from './exposed-references.ts';

interface TraceOptions {
  /** Traces only the values of this read, of any kind. */
  readonly readId?: string;
  /**
   * `messages`: values that an expression reads, because messages about it may quote them. `objects`: values that its result contains; a
   * hash or a test of a value does not.
   */
  readonly into: 'messages' | 'objects';
}

/** The part of a definition whose `$item` and `$child` an expression reads. */
export interface PartOf {
  readonly childId?: string | undefined;
  readonly patchId?: string | undefined;
}

const noPart: PartOf = Object.freeze({});

/** Traces values of Secrets through a definition. Values that the analysis cannot trace are treated as secret. */
export function traceSecrets(context: CheckContext, options: TraceOptions): SecretFlow {
  const flow = new SecretFlow(context, options);
  if (!readsSecrets(context)) return flow;
  // Terminates, because levels only rise.
  while (flow.propagate());
  return flow;
}

function readsSecrets({ parts, definition: { kind } }: CheckContext): boolean {
  const { children, reads, reporting } = parts;
  const named = [...children, ...reads].flatMap(({ definition }) => kindsOf(definition));
  const targets = reporting.patches.flatMap(({ definition }) => definition.target?.gvk ?? []);
  return [kind.gvk, ...named, ...targets].some(isSecret);
}

const order: readonly Secrecy[] = ['none', 'content', 'all'];

function highest(levels: readonly (Secrecy | undefined)[]): Secrecy {
  return levels.reduce<Secrecy>(
    (most, level = 'none') => (order.indexOf(level) > order.indexOf(most) ? level : most),
    'none',
  );
}

/**
 * Data flow analysis: the objects that may contain values of Secrets, because the definition reads a Secret, writes
 * its values to an object, reads that object, and so on.
 */
export class SecretFlow {
  readonly #context: CheckContext;
  readonly #readId: string | undefined;
  readonly #into: TraceOptions['into'];
  readonly #childIds: readonly string[];
  readonly #readIds: readonly string[];
  /**
   * Secrecy levels by name: `resource`, `children.<id>`, `reads.<id>`, `patches.<id>`, `written <kind>`, `patched
   * <kind>`, `status.<field>`.
   */
  readonly #levels = new Map<string, Secrecy>();
  readonly #slots = new WeakMap<Slot, CompiledTemplate>();
  #hasRisen = false;

  constructor(context: CheckContext, { readId, into }: TraceOptions) {
    this.#context = context;
    this.#readId = readId;
    this.#into = into;
    const { children, reads } = context.parts;
    this.#childIds = children.map(({ definition }) => definition.id);
    this.#readIds = reads.map(({ definition }) => definition.id);
  }

  /** Secrecy of the resource, including its status. */
  get resource(): Secrecy {
    return highest([this.#of('resource'), this.#hasSecretStatus ? 'content' : 'none']);
  }

  child(id: string): Secrecy {
    return this.#of(`children.${id}`);
  }

  read(id: string): Secrecy {
    return this.#of(`reads.${id}`);
  }

  patch(id: string): Secrecy {
    return this.#of(`patches.${id}`);
  }

  /** Whether the result of templates may contain a value of a Secret. */
  reaches(templates: readonly (CompiledTemplate | undefined)[], part = noPart): boolean {
    return this.#referencesOf(templates).some((each) => this.#isSecret(each, part));
  }

  #referencesOf(templates: readonly (CompiledTemplate | undefined)[]): readonly SlotReference[] {
    const { uses, parts } = this.#context;
    return this.#into === 'messages'
      ? uses.of(...templates).references
      : exposedReferences(templates, parts.vars);
  }

  /** One iteration over the definition. Returns whether a level has risen, so that another iteration is needed. */
  propagate(): boolean {
    this.#hasRisen = false;
    this.#spreadReads();
    this.#spreadChildren();
    this.#spreadReport();
    this.#spreadResource();
    return this.#hasRisen;
  }

  #spreadReads(): void {
    for (const read of this.#context.parts.reads) {
      const { id, gvk } = read.definition;
      // An object found by a secret value has it in its name or labels.
      const asked = this.reaches(templatesOfRead(read)) ? 'all' : 'none';
      this.#raise(`reads.${id}`, [this.#ofRead(id, gvk), asked, ...this.#ofKind(gvk)]);
    }
  }

  #spreadChildren(): void {
    for (const { definition, template, cluster, kind } of this.#context.parts.objects) {
      const { id, gvk } = definition;
      const written = this.#levelOf(template, { childId: id });
      this.#raise(`written ${gvkKey(gvk)}`, [written]);
      const patched = this.#of(`patched ${gvkKey(gvk)}`);
      // Messages and the status name the cluster and the kind of an object.
      const placed = this.reaches([cluster, kind], { childId: id }) ? 'all' : 'none';
      this.#raise(`children.${id}`, [this.#ofSecret(gvk), written, patched, placed]);
    }
  }

  #spreadReport(): void {
    const { reporting, status } = this.#context.parts;
    for (const [name, template] of status) {
      if (this.reaches([template])) this.#raise(`status.${name}`, ['content']);
    }
    for (const each of reporting.conditions) {
      const isSecret = this.reaches([each.status, each.reason, each.message]);
      if (isSecret) this.#raise('status.conditions', ['content']);
    }
    for (const each of reporting.patches) this.#spreadPatch(each);
  }

  #spreadPatch(compiled: CompiledPatch): void {
    const { id, target } = compiled.definition;
    const part = { patchId: id };
    const written = this.#levelOf(compiled.patch, part);
    const kinds = this.#kindsOf(target);
    if (target === undefined) this.#raise('resource', [written]);
    else for (const gvk of kinds) this.#raise(`patched ${gvkKey(gvk)}`, [written]);
    const asked = this.reaches(targetTemplates(compiled), part) ? 'all' : 'none';
    // The server's response to a patch may quote any field of the object.
    const there =
      target === undefined ? [this.resource] : kinds.flatMap((gvk) => this.#ofKind(gvk));
    const secrets = kinds.map((gvk) => this.#ofSecret(gvk));
    this.#raise(`patches.${id}`, [...secrets, written, asked, ...there]);
  }

  /** A computed kind is one of those that are recorded. */
  #kindsOf(target: PatchTarget | undefined): readonly Gvk[] {
    const { definition, parts } = this.#context;
    if (target === undefined) return [definition.kind.gvk];
    if (target.gvk !== undefined) return [target.gvk];
    return parts.reads.flatMap(({ definition: { history, gvk } }) => (history ? [gvk] : []));
  }

  #spreadResource(): void {
    const kind = this.#context.definition.kind.gvk;
    this.#raise('resource', [this.#ofSecret(kind), ...this.#ofKind(kind)]);
    // The status lists the names of children.
    if (!this.#childIds.some((id) => this.child(id) === 'all')) return;
    for (const field of ['children', 'childInventory']) this.#raise(`status.${field}`, ['content']);
  }

  /** Levels of what the definition writes to a kind: any read of that kind may find it. */
  #ofKind(gvk: Gvk): readonly Secrecy[] {
    return [this.#of(`written ${gvkKey(gvk)}`), this.#of(`patched ${gvkKey(gvk)}`)];
  }

  #ofRead(id: string, gvk: Gvk): Secrecy {
    const readId = this.#readId;
    if (readId === undefined) return this.#ofSecret(gvk);
    return id === readId ? 'content' : 'none';
  }

  #ofSecret(gvk: Gvk): Secrecy {
    return this.#readId === undefined && isSecret(gvk) ? 'content' : 'none';
  }

  /** Level of an object that a template renders. */
  #levelOf({ slots, pointer }: CompiledTemplate, part: PartOf): Secrecy {
    const secret = slots.filter((slot) => this.reaches([this.#alone(slot)], part));
    return highest(secret.map((slot) => (isNaming(slot, pointer.length) ? 'all' : 'content')));
  }

  /** Wraps a slot in a template, to find its references including those of its vars. */
  #alone(slot: Slot): CompiledTemplate {
    const alone = this.#slots.get(slot) ?? slotTemplate(slot);
    this.#slots.set(slot, alone);
    return alone;
  }

  #isSecret({ reference: { root, path } }: SlotReference, part: PartOf): boolean {
    const { childId } = part;
    switch (root) {
      case 'resource':
        if (path[0] === 'history' && this.#isSecretHistory(path.slice(1))) return true;
        return isHidden(this.#of('resource'), path) || this.#isSecretStatus(path);
      case 'previous':
        return isHidden(this.#of('resource'), path) || this.#isSecretStatus(path);
      case 'children':
      case 'observed':
        return idsOfPath(path, this.#childIds).some((id) =>
          isHidden(this.child(id), path.slice(1)),
        );
      case 'reads':
        return idsOfPath(path, this.#readIds).some((id) => isHidden(this.read(id), path.slice(1)));
      case 'child':
        return childId !== undefined && isHidden(this.child(childId), path);
      case 'item':
        return this.reaches([this.#listOf(part)]);
      default:
        return false;
    }
  }

  /** Whether a field of the versions may contain values of Secrets: `object` has the content of what was read. */
  #isSecretHistory([field, ...below]: readonly string[]): boolean {
    const { reads } = this.#context.parts;
    const levels = reads.flatMap(({ definition: { id, history } }) =>
      history === undefined ? [] : [this.read(id)],
    );
    if (field === undefined) return highest(levels) !== 'none';
    return levels.some((level) => (field === 'object' ? isHidden(level, below) : level === 'all'));
  }

  #listOf({ childId, patchId }: PartOf): CompiledTemplate | undefined {
    const { children, reporting } = this.#context.parts;
    return childId === undefined
      ? reporting.patches.find(({ definition }) => definition.id === patchId)?.forEach
      : children.find(({ definition }) => definition.id === childId)?.forEach;
  }

  #isSecretStatus([root, field]: readonly string[]): boolean {
    if (root !== undefined && root !== 'status') return false;
    return field === undefined ? this.#hasSecretStatus : this.#of(`status.${field}`) !== 'none';
  }

  get #hasSecretStatus(): boolean {
    return [...this.#levels.keys()].some((name) => name.startsWith('status.'));
  }

  #of(name: string): Secrecy {
    return this.#levels.get(name) ?? 'none';
  }

  #raise(name: string, levels: readonly Secrecy[]): void {
    const before = this.#of(name);
    const now = highest([before, ...levels]);
    if (now === before) return;
    this.#levels.set(name, now);
    this.#hasRisen = true;
  }
}

/** Metadata fields that do not contain secret values. */
const openMetadata: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'uid',
  'labels',
  'finalizers',
  'generation',
  'resourceVersion',
  'ownerReferences',
  'creationTimestamp',
  'deletionTimestamp',
]);

/** Whether a field of an object may contain values of a Secret. */
export function isHidden(level: Secrecy, [root, field]: readonly string[]): boolean {
  if (level !== 'content') return level === 'all';
  if (root === 'apiVersion' || root === 'kind') return false;
  return root !== 'metadata' || field === undefined || !openMetadata.has(field);
}

/** Whether a slot of a manifest sets, or may set, a field of {@link openMetadata}. */
function isNaming({ pointer, role }: Slot, start: number): boolean {
  const [, root = '', field] = pointer.slice(start).split('/');
  const isComputed = root === '' || /[${]/.test(root) || (role === 'key' && field === undefined);
  return isComputed || (root === 'metadata' && field !== 'annotations');
}
