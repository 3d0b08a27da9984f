import type { ContractCase } from '../driver/index.ts';
import { get, remove } from './requests.ts';

const namespaces = '/api/v1/namespaces';

function keptNamespace(name: string): ContractCase {
  return {
    name: `the namespace ${name} may not be deleted`,
    steps: [
      remove(`${namespaces}/${name}`, undefined, { status: 403, message: /may not be deleted/ }),
      remove(`${namespaces}/${name}?dryRun=All`, undefined, { status: 403 }),
      get(`${namespaces}/${name}`, {
        status: 200,
        body: { status: { phase: 'Active' } },
        byChance: [''],
      }),
    ],
  };
}

/** What every cluster has, and keeps. */
export const keptObjects: readonly ContractCase[] = [
  keptNamespace('default'),
  keptNamespace('kube-system'),
  keptNamespace('kube-public'),
  {
    name: 'the namespace kube-node-lease may be deleted',
    steps: [
      remove(`${namespaces}/kube-node-lease?dryRun=All`, undefined, {
        status: 200,
        byChance: [''],
      }),
    ],
  },
];
