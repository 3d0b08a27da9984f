import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { wantedFields } from './wanted-fields.ts';

const owned = (path: string, value: string, ...owners: string[]) => ({ path, value, owners });
const change = (...fields: { path: string; before?: string; after?: string }[]) => ({
  ...({ action: 'change', apiVersion: 'apps/v1', kind: 'Deployment', name: 'site' } as const),
  fields,
});

describe('web/model/wanted-fields', () => {
  test('fields that the definition sets are equal, unless the next reconcile changes them', () => {
    const replicas = owned('spec.replicas', '2', 'homeostat/web');
    const port = owned('spec.ports[port=80,protocol=TCP].name', '"web"', 'homeostat/web');
    const changes = [change({ path: 'spec.replicas', before: '2', after: '3' })];
    assert.deepEqual(wantedFields([replicas, port], { fields: [replicas, port], changes }), [
      {
        path: 'spec.replicas',
        wanted: '3',
        live: '2',
        isDifferent: true,
        owners: ['homeostat/web'],
      },
      { path: port.path, wanted: '"web"', live: '"web"', isDifferent: false, owners: port.owners },
    ]);
  });

  test('a field that another manager took is shown with its owner, and one that is removed too', () => {
    const image = owned('spec.containers[name=web].image', '"nginx:1.26"', 'kubectl-edit');
    const changes = [
      change(
        { path: image.path, before: '"nginx:1.26"', after: '"nginx:1.27"' },
        { path: 'metadata.labels["a/b"]', before: '"x"' },
      ),
    ];
    assert.deepEqual(wantedFields([], { fields: [image], changes }), [
      {
        path: image.path,
        wanted: '"nginx:1.27"',
        live: '"nginx:1.26"',
        isDifferent: true,
        owners: ['kubectl-edit'],
      },
      {
        path: 'metadata.labels["a/b"]',
        wanted: undefined,
        live: '"x"',
        isDifferent: true,
        owners: [],
      },
    ]);
  });
});
