import { isJsonObject, type JsonObject } from '#util/json.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** The object, or list of objects, with masked values of Secrets: only their sizes are left. Pure. */
export function maskSecrets(body: unknown): unknown {
  if (!isJsonObject(body)) return body;
  if (body.kind === 'SecretList' && Array.isArray(body.items))
    return {
      ...body,
      items: body.items.map((item) => (isJsonObject(item) ? maskSecret(item) : item)),
    };
  return body.kind === 'Secret' && body.apiVersion === 'v1' ? maskSecret(body) : body;
}

function maskSecret(secret: JsonObject): JsonObject {
  const { data, stringData, metadata } = secret;
  return {
    ...secret,
    ...(isJsonObject(data) && { data: maskedValues(data) }),
    ...(isJsonObject(stringData) && { stringData: maskedValues(stringData) }),
    ...(isJsonObject(metadata) && { metadata: maskedMetadata(metadata) }),
  };
}

function maskedValues(values: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      `(masked, ${String(value ?? '').length} characters)`,
    ]),
  );
}

/** kubectl keeps a copy of the manifest. */
function maskedMetadata(metadata: JsonObject): JsonObject {
  const { annotations } = metadata;
  if (!isJsonObject(annotations) || annotations[lastApplied] === undefined) return metadata;
  return { ...metadata, annotations: { ...annotations, [lastApplied]: '(masked)' } };
}

/** The object, or list of objects, without owners of fields, which are half of it and only shown of one object. Pure. */
export function withoutManagedFields(body: unknown): unknown {
  if (!isJsonObject(body)) return body;
  if (Array.isArray(body.items)) return { ...body, items: body.items.map(withoutManagedFields) };
  if (!isJsonObject(body.metadata)) return body;
  const { managedFields: _, ...metadata } = body.metadata;
  return { ...body, metadata };
}
