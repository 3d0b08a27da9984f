import type { JsonObject } from '../../util/json.ts';
import type { Finding } from '../finding.ts';

/**
 * One check of a document whose types the schema may or may not have found right: what has another type than expected is
 * passed over (the schema reports it).
 */
export type Rule = (document: JsonObject) => Iterable<Finding>;
