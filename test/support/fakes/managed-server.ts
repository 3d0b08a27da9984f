import { readManagedFields } from '#kube/api/edit-metadata.ts';
import { KubeError, type ManagedFieldsEntry, type StoredObject } from '#kube/roles.ts';
import { ApplyError } from '#sandbox/apply/apply-error.ts';
import { FieldManager } from '#sandbox/apply/field-manager.ts';
import { FieldTypeBuilder, type MergeSchema } from '#sandbox/apply/field-type-builder.ts';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject, ObjectMeta } from '#util/kube-object.ts';
import { type ApplyInput, assertGuards, FakeServer, type ServerEvent } from './fake-server.ts';

const text: MergeSchema = { type: 'string' };
const texts: MergeSchema = { type: 'object', additionalProperties: text };
const configMap: MergeSchema = {
  type: 'object',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: {
      type: 'object',
      properties: { name: text, namespace: text, labels: texts, annotations: texts },
    },
    data: texts,
  },
};

/**
 * As {@link FakeServer}, with the field owners of ConfigMaps as a server has them: several managers may own one field, and a field is removed
 * when its last owner gives it up.
 */
export class ManagedServer extends FakeServer {
  readonly #fields = new FieldManager({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    types: new Map([['v1', new FieldTypeBuilder({}).typeOf(configMap)]]),
    now: () => '2026-01-01T00:00:00Z',
  });

  override subscribe(listener: (event: ServerEvent) => void): () => void {
    return super.subscribe(({ before, after, ...event }) =>
      listener({ ...event, after: asCached(after), ...(before && { before: asCached(before) }) }),
    );
  }

  override get(gvk: Gvk, namespace: string | undefined, name: string): StoredObject | undefined {
    const stored = super.get(gvk, namespace, name);
    return stored && asCached(stored);
  }

  override list(gvk: Gvk): readonly StoredObject[] {
    return super.list(gvk).map(asCached);
  }

  override fieldOwners(
    gvk: Gvk,
    namespace: string | undefined,
    name: string,
  ): readonly ManagedFieldsEntry[] {
    if (gvk.kind !== 'ConfigMap') return super.fieldOwners(gvk, namespace, name);
    const stored = super.get(gvk, namespace, name);
    return stored === undefined ? [] : readManagedFields(stored.object);
  }

  override apply(input: ApplyInput): { stored: StoredObject; created: boolean } {
    const { manifest, manager, force } = input;
    if (manifest.kind !== 'ConfigMap') return super.apply(input);
    const live = this.#live(manifest);
    if (live !== undefined) assertGuards(manifest, live);
    else if (manifest.metadata.uid !== undefined)
      throw new KubeError('uid-mismatch', 'Precondition failed: uid', { status: 409 });
    try {
      const config = contentOf(manifest);
      const next = this.#fields.apply({ live: live && contentOf(live), config, manager, force });
      const stored = super.put(withContent(live, next), manager);
      return { stored: asCached(stored), created: live === undefined };
    } catch (error) {
      throw error instanceof ApplyError ? conflictOf(error) : error;
    }
  }

  override put(object: KubeObject, manager = 'somebody'): StoredObject {
    if (object.kind !== 'ConfigMap') return super.put(object, manager);
    const live = this.#live(object);
    const next = this.#fields.update({
      live: live && contentOf(live),
      next: contentOf(object),
      manager,
    });
    return asCached(super.put(withContent(live ?? object, next), manager));
  }

  #live({ apiVersion, kind, metadata }: KubeObject): KubeObject | undefined {
    return super.get(gvkOf(apiVersion, kind), metadata.namespace, metadata.name)?.object;
  }
}

/** As a cache has it: without the owners. */
function asCached(stored: StoredObject): StoredObject {
  const { object } = stored;
  if (object.kind !== 'ConfigMap') return stored;
  const managers = readManagedFields(object).filter(({ operation }) => operation === 'Apply');
  const { managedFields: _, ...metadata } = object.metadata as ObjectMeta & {
    readonly managedFields?: unknown;
  };
  return {
    ...stored,
    object: { ...object, metadata },
    appliedBy: managers.flatMap(({ manager }) => (manager.startsWith('homeostat/') ? manager : [])),
  };
}

/** What has owners, with them. */
function contentOf({ apiVersion, kind, metadata, ...rest }: KubeObject): JsonObject {
  const { name, namespace, labels, annotations, managedFields } = metadata as ObjectMeta & {
    readonly managedFields?: unknown;
  };
  const kept = { name, namespace, labels, annotations, managedFields };
  const known = Object.entries(kept).filter(([, value]) => value !== undefined);
  const { data } = rest as { readonly data?: JsonObject };
  return {
    apiVersion,
    kind,
    metadata: Object.fromEntries(known) as JsonObject,
    // A server does not store an empty map.
    ...(data && Object.keys(data).length > 0 && { data }),
  };
}

function withContent(live: KubeObject | undefined, content: JsonObject): KubeObject {
  const {
    labels: _,
    annotations: __,
    managedFields: ___,
    ...kept
  } = (live?.metadata ?? {}) as Partial<ObjectMeta> & { readonly managedFields?: unknown };
  const metadata = { ...kept, ...(content.metadata as JsonObject) };
  const { data, ...rest } = content;
  const isEmpty = Object.keys((data ?? {}) as JsonObject).length === 0;
  return { ...rest, ...(!isEmpty && { data }), metadata } as unknown as KubeObject;
}

function conflictOf({ message, causes }: ApplyError): KubeError {
  return new KubeError('field-conflict', message, {
    status: 409,
    causes: causes.map(({ reason, message: text, field }) => ({
      reason,
      message: text,
      field,
      manager: /"([^"]+)"/.exec(text)?.[1] ?? '',
    })),
  });
}
