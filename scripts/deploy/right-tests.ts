import type { RightPurpose } from '#check';

const byName = 'test/integration/rights-by-name.test.ts';
const ofMembers = 'test/integration/member-rights.test.ts';
const ofHttp = 'test/integration/http-rights.test.ts';
const ofConversion = 'test/integration/conversion-rights.test.ts';
const ofDeploy = 'test/integration/deploy-rights.test.ts';

/** Where the test of that title is. */
export function fileOfRightTest(title: string): string {
  if (title === rightTests.member) return ofMembers;
  if (title === rightTests.http || title === rightTests['http-logins']) return ofHttp;
  if (title === rightTests.conversion || title === rightTests['conversion-bundle'])
    return ofConversion;
  return title === rightTests['reads-by-name'] ? byName : ofDeploy;
}

/** By purpose of a right, the test that shows that it is needed. A test fails for a title that is not there. */
export const rightTests: Readonly<Record<RightPurpose, string>> = {
  crds: 'the runtime starts',
  crd: 'the runtime starts',
  'definition-crd': 'the runtime starts',
  definitions:
    'definitions are published, and the object of one whose manifest is removed is deleted',
  'definition-status':
    'definitions are published, and the object of one whose manifest is removed is deleted',
  configmaps: 'the runtime starts',
  clusters:
    'a definition runs in a member with the rights that are printed for it, and needs all of them',
  'cluster-secrets':
    'a definition runs in a member with the rights that are printed for it, and needs all of them',
  member:
    'a definition runs in a member with the rights that are printed for it, and needs all of them',
  http: 'objects behind HTTP work with the rights that are printed for them, and need all of them',
  'http-values':
    'objects behind HTTP work with the rights that are printed for them, and need all of them',
  'http-logins':
    'a login requests tokens with the rights that are printed for it, and needs all of them',
  conversion: 'a webhook is served with the rights that are printed for it, and needs all of them',
  'conversion-bundle':
    'the runtime writes the certificates of a webhook into a CRD with the rights of the chart, and needs all of them',
  lease: 'another replica continues where the leader ends',
  'lease-new': 'another replica continues where the leader ends',
  resources: 'resources are made',
  status: 'resources are made',
  children: 'children are made, reverted, found to belong to another owner, and deleted',
  reads: 'resources are made',
  'reads-by-name': 'a definition that reads Secrets by written names may read no others',
  'read-namespaces': 'a definition of one namespace writes there and nowhere else',
  history: 'versions are recorded, marked, trimmed and deleted',
  'history-keys': 'versions are recorded, marked, trimmed and deleted',
  'resource-metadata': 'resources are released',
  'resource-finished': 'resources are made',
  'resource-gone': 'a definition for a kind of others releases what matches no more',
  'resource-patch': 'a resource that patches itself',
  'patch-targets': 'a definition of one namespace writes there and nowhere else',
  'namespace-going': 'a namespace is deleted with what is in it',
  events: 'Events are reported, and counted',
  owners: 'without the right to name owners no child is made',
  'granted-roles': 'no user binds a role that it may not bind',
  'granted-rules': 'no user binds a role that it may not bind',
};
