import { pointerTo } from '../../util/json-pointer.ts';
import type { SchemaNode } from '../crd/schema-node.ts';
import type { Finding } from '../finding.ts';

/** The finding for a keyword of a CRD's schema that the API server would refuse there. */
export function invalidKeyword(node: SchemaNode, keyword: string, message: string): Finding {
  return { code: 'invalid-crd', path: pointerTo(node.path, keyword), at: 'key', message };
}
