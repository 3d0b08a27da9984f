import { gvkOf } from '#util/gvk.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { kindAt } from '../identity.ts';
import { clusterWrite, type Pass, requestError } from '../pass/pass.ts';
import { publicContent } from '../secrecy.ts';

/** Reads the namespace from the server; a watch is not worth it. If the request is denied, the namespace counts as active. */
export async function isNamespaceTerminating(pass: Pass): Promise<boolean | Problem> {
  const { context, namespace, signal } = pass;
  if (namespace === undefined) return false;
  try {
    const ref = { gvk: kindAt(namespaceKind, undefined), name: namespace };
    const found = await context.cluster.get(ref, clusterWrite(pass), signal);
    return found?.object.metadata.deletionTimestamp !== undefined;
  } catch (thrown) {
    const error = requestError(thrown, pass);
    return error.isPermanent ? false : problemOfRequest(error, { about: publicContent });
  }
}

const namespaceKind = gvkOf('v1', 'Namespace');
