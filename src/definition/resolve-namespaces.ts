import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import type { CrossNamespace, ReadNamespaces } from './operator-definition.ts';

/** Which namespaces a read looks into. */
export function resolveNamespaces(read: JsonObject): ReadNamespaces {
  const { namespace, namespaces, namespaceSelector } = read;
  if (namespace !== undefined) return { kind: 'one', namespace };
  if (namespaces !== undefined) return { kind: 'list', namespaces };
  if (isJsonObject(namespaceSelector)) return { kind: 'selector', selector: namespaceSelector };
  return { kind: 'own' };
}

/** `crossNamespace` of a read, a child or a patch. */
export function resolveCrossNamespace(written: Json | undefined): CrossNamespace {
  if (!isJsonObject(written)) return written === true;
  const { namespaces } = written;
  return { namespaces: Array.isArray(namespaces) ? namespaces.map(String) : [] };
}
