import { type Gvk, gvkKey } from '../../util/gvk.ts';
import { type DefinitionParts, isSecret, templatesOfRead } from '../definition-parts.ts';
import type { Secrecy } from '../operator-plan.ts';
import type { PatchParts } from '../reporting-parts.ts';
import type { CompiledTemplate, Slot, SlotReference } from '../template/template.ts';
import { named, type UsesFinder } from './uses.ts';

export interface SecretFlowOptions {
  readonly parts: DefinitionParts;
  readonly uses: UsesFinder;
  /** Of the resource. */
  readonly kind: Gvk;
  /** Follow the values of this read alone. @default undefined: those of every Secret that the definition reads, writes or serves */
  readonly readId?: string;
}

/**
 * Where values of Secrets may be, without looking at any: what a definition reads of a Secret, what it writes with that, what it reads
 * of what it has written, and so on.
 */
export interface SecretFlow {
  /** Of the resource itself, its status included. */
  readonly resource: Secrecy;
  child(id: string): Secrecy;
  read(id: string): Secrecy;
  patch(id: string): Secrecy;
  /** May templates give a value of a Secret? `childId`: of the child that their `$item` and `$child` mean. */
  reaches(templates: readonly (CompiledTemplate | undefined)[], childId?: string): boolean;
}

/** Follows the values of Secrets through a definition. What the analysis cannot tell counts as a value of a Secret. */
export function followSecrets(options: SecretFlowOptions): SecretFlow {
  const flow = new Flow(options);
  if (!readsSecrets(options)) return flow;
  // Levels only rise, so this ends.
  while (flow.spread());
  return flow;
}

function readsSecrets({ parts: { children, reads, reporting }, kind }: SecretFlowOptions): boolean {
  const named = [...children, ...reads].map(({ definition }) => definition.gvk);
  const targets = reporting?.patches.flatMap(({ definition }) => definition.target?.gvk ?? []);
  return [kind, ...named, ...(targets ?? [])].some(isSecret);
}

const order: readonly Secrecy[] = ['none', 'content', 'all'];

function highest(levels: readonly (Secrecy | undefined)[]): Secrecy {
  return levels.reduce<Secrecy>(
    (most, level = 'none') => (order.indexOf(level) > order.indexOf(most) ? level : most),
    'none',
  );
}

class Flow implements SecretFlow {
  readonly #options: SecretFlowOptions;
  readonly #childIds: readonly string[];
  readonly #readIds: readonly string[];
  /** Levels by what has them: `resource`, `children.<id>`, `reads.<id>`, `patches.<id>`, `written <kind>`, `patched <kind>`, `status.<field>`. */
  readonly #levels = new Map<string, Secrecy>();
  readonly #slots = new WeakMap<Slot, CompiledTemplate>();
  #hasRisen = false;

  constructor(options: SecretFlowOptions) {
    this.#options = options;
    const { children, reads } = options.parts;
    this.#childIds = children.map(({ definition }) => definition.id);
    this.#readIds = reads.map(({ definition }) => definition.id);
  }

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

  reaches(templates: readonly (CompiledTemplate | undefined)[], childId?: string): boolean {
    const { references } = this.#options.uses.of(...templates);
    return references.some((each) => this.#isSecret(each, childId));
  }

  /** One round over the definition. True: something has become secret, so that another round may find more. */
  spread(): boolean {
    this.#hasRisen = false;
    this.#spreadReads();
    this.#spreadChildren();
    this.#spreadReport();
    this.#spreadResource();
    return this.#hasRisen;
  }

  #spreadReads(): void {
    for (const read of this.#options.parts.reads) {
      const { id, gvk } = read.definition;
      // What is found with a Secret's value is called so, or has it in its labels.
      const asked = this.reaches(templatesOfRead(read)) ? 'all' : 'none';
      this.#raise(`reads.${id}`, [this.#ofRead(id, gvk), asked, ...this.#ofKind(gvk)]);
    }
  }

  #spreadChildren(): void {
    for (const { definition, template } of this.#options.parts.children) {
      const { id, gvk } = definition;
      const written = this.#levelOf(template, id);
      this.#raise(`written ${gvkKey(gvk)}`, [written]);
      const patched = this.#of(`patched ${gvkKey(gvk)}`);
      this.#raise(`children.${id}`, [this.#ofSecret(gvk), written, patched]);
    }
  }

  #spreadReport(): void {
    const { reporting, status } = this.#options.parts;
    for (const [name, template] of status) {
      if (this.reaches([template])) this.#raise(`status.${name}`, ['content']);
    }
    const { conditions = [], patches = [] } = reporting ?? {};
    for (const each of conditions) {
      const isSecret = this.reaches([each.status, each.reason, each.message]);
      if (isSecret) this.#raise('status.conditions', ['content']);
    }
    for (const each of patches) this.#spreadPatch(each);
  }

  #spreadPatch({ definition: { id, target }, name, namespace, patch }: PatchParts): void {
    const gvk = target?.gvk ?? this.#options.kind;
    const written = this.#levelOf(patch);
    this.#raise(target === undefined ? 'resource' : `patched ${gvkKey(gvk)}`, [written]);
    const asked = this.reaches([name, namespace]) ? 'all' : 'none';
    // What a server says of a patch may be about all of the object.
    const there = target === undefined ? this.resource : highest(this.#ofKind(gvk));
    this.#raise(`patches.${id}`, [this.#ofSecret(gvk), written, asked, there]);
  }

  #spreadResource(): void {
    const { kind } = this.#options;
    this.#raise('resource', [this.#ofSecret(kind), ...this.#ofKind(kind)]);
    // The status lists children by name.
    if (!this.#childIds.some((id) => this.child(id) === 'all')) return;
    for (const field of ['children', 'childInventory']) this.#raise(`status.${field}`, ['content']);
  }

  /** Of what the definition itself writes to a kind: whatever else reads that kind may come upon it. */
  #ofKind(gvk: Gvk): readonly Secrecy[] {
    return [this.#of(`written ${gvkKey(gvk)}`), this.#of(`patched ${gvkKey(gvk)}`)];
  }

  #ofRead(id: string, gvk: Gvk): Secrecy {
    const { readId } = this.#options;
    if (readId === undefined) return this.#ofSecret(gvk);
    return id === readId ? 'content' : 'none';
  }

  #ofSecret(gvk: Gvk): Secrecy {
    return this.#options.readId === undefined && isSecret(gvk) ? 'content' : 'none';
  }

  /** Of an object that a template makes. */
  #levelOf({ slots, pointer }: CompiledTemplate, childId?: string): Secrecy {
    const secret = slots.filter((slot) => this.reaches([this.#alone(slot)], childId));
    return highest(secret.map((slot) => (isNaming(slot, pointer.length) ? 'all' : 'content')));
  }

  /** A slot as a template, so that its references are found with those of its vars. */
  #alone(slot: Slot): CompiledTemplate {
    const known = this.#slots.get(slot);
    if (known !== undefined) return known;
    const { pointer, place } = slot;
    const alone: CompiledTemplate = {
      root: { kind: 'slot', slot: 0 },
      slots: [slot],
      constantSize: 0,
      pointer,
      place,
    };
    this.#slots.set(slot, alone);
    return alone;
  }

  #isSecret({ reference: { root, path } }: SlotReference, childId: string | undefined): boolean {
    switch (root) {
      case 'resource':
      case 'previous':
        return isHidden(this.#of('resource'), path) || this.#isSecretStatus(path);
      case 'children':
      case 'observed':
        return named(path, this.#childIds).some((id) => isHidden(this.child(id), path.slice(1)));
      case 'reads':
        return named(path, this.#readIds).some((id) => isHidden(this.read(id), path.slice(1)));
      case 'child':
        return childId !== undefined && isHidden(this.child(childId), path);
      case 'item':
        return childId !== undefined && this.reaches([this.#listOf(childId)]);
      default:
        return false;
    }
  }

  #listOf(childId: string): CompiledTemplate | undefined {
    const { children } = this.#options.parts;
    return children.find(({ definition }) => definition.id === childId)?.forEach;
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

/** What everybody may know of an object that holds values of a Secret. */
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

function isHidden(level: Secrecy, [root, field]: readonly string[]): boolean {
  if (level !== 'content') return level === 'all';
  if (root === 'apiVersion' || root === 'kind') return false;
  return root !== 'metadata' || field === undefined || !openMetadata.has(field);
}

/** Does a slot of a manifest make what {@link openMetadata} names, or may it? */
function isNaming({ pointer, role }: Slot, start: number): boolean {
  const [, root = '', field] = pointer.slice(start).split('/');
  const isComputed = root === '' || /[${]/.test(root) || (role === 'key' && field === undefined);
  return isComputed || (root === 'metadata' && field !== 'annotations');
}
