import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explainDefinition } from '#compile';
import { locateThing } from '../../../test/support/thing-plan.ts';
import { definitionGraph } from './definition-graph.ts';

const located = locateThing(`  reads:
    - { id: one, apiVersion: v1, kind: Secret, name: a }
    - { id: several, apiVersion: v1, kind: Secret, name: "\${ [spec.names] }" }
    - { id: selected, apiVersion: v1, kind: Secret, selector: all }
`);

describe('console/definition-graph', () => {
  test('a read by a list of names is marked as several objects', () => {
    const { nodes } = definitionGraph(explainDefinition(located));
    assert.deepEqual(
      nodes.filter(({ shape }) => shape === 'read').map(({ title, notes }) => [title, notes]),
      [
        ['one', []],
        ['several', ['\u00d7N by name']],
        ['selected', []],
      ],
    );
  });
});
