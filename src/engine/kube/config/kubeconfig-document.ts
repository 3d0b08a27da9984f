// Direct imports: the package's index would bundle 750 generated models.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import {
  newClusters,
  newContexts,
  newUsers,
  type User,
} from '@kubernetes/client-node/dist/config_types.js';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { KubeConfigError } from './cluster-config.ts';

/** A user of the library, with what the library does not keep of it. */
export interface KubeconfigUser extends User {
  /** A file with the token. */
  readonly tokenFile?: string;
  /** An impersonation field that the library ignores. Ignoring it would change the permissions. */
  readonly lostImpersonation?: string;
}

/**
 * Fields that name a file with the token: of client-go, and of the library, which would read it while it parses, without a limit and
 * for all users.
 */
const tokenFileFields = ['tokenFile', 'token-file'];
const lostImpersonation = ['as-groups', 'as-uid', 'as-user-extra'];

/**
 * A kubeconfig that was parsed, as the library's configuration.
 * @throws KubeConfigError, and errors of the library for an entry without a name or a server
 */
export function configOfDocument(document: Json): KubeConfig {
  // An empty file is a kubeconfig without anything, as for kubectl.
  if (document !== null && !isJsonObject(document))
    throw new KubeConfigError('invalid', 'a value that is not a map');
  const { 'current-context': current } = document ?? {};
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: newClusters(entriesOf(document, 'clusters')),
    contexts: newContexts(entriesOf(document, 'contexts')),
    users: entriesOf(document, 'users').flatMap(userOf),
    currentContext: typeof current === 'string' ? current : undefined,
  });
  return config;
}

function entriesOf(document: JsonObject | null, field: string): readonly JsonObject[] {
  const entries: Json = document?.[field] ?? [];
  if (Array.isArray(entries) && entries.every(isJsonObject)) return entries;
  throw new KubeConfigError('invalid', `another value than a list of maps in "${field}"`);
}

function userOf(entry: JsonObject): readonly KubeconfigUser[] {
  const { user } = entry;
  if (!isJsonObject(user)) return newUsers([entry]);
  const known = { ...user };
  for (const field of tokenFileFields) delete known[field];
  const tokenFile = tokenFileFields.map((field) => user[field]).find(isText);
  const lost = lostImpersonation.find((field) => Object.hasOwn(user, field));
  return newUsers([{ ...entry, user: known }]).map((each) => ({
    ...each,
    ...(tokenFile !== undefined && { tokenFile }),
    ...(lost !== undefined && { lostImpersonation: lost }),
  }));
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
