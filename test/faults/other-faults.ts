/** A row of `docs/reliability.md` that a test of its own makes true. */
export interface OtherFault {
  /** The name of the test, or how it begins. */
  readonly name: string;
  readonly injected: string;
  readonly oracle: string;
  readonly runs: string;
}

/** What needs more than one process before one server, by the tests that run it. */
export const otherFaults = {
  killSweep: {
    name: 'SIGKILL at each write',
    injected:
      'the process is killed at the first write of a creation, then at the second, and so on; the same for an edit that prunes; another process is started',
    oracle: 'nothing is created twice',
    runs: 'every write of both, three times: not executed; executed with a lost response; with a response',
  },
  deletionSweep: {
    name: 'SIGKILL at each write of a resource with a finalizer',
    injected:
      'a resource with children in two namespaces, one of them orphaned, and with `onDelete` is created and deleted; the process is killed at the first write, then at the second, and so on; another one is started',
    oracle:
      'the resource and all objects with its label are deleted; the orphan stays and is released',
    runs: 'every write, twice: not executed; executed with a lost response',
  },
  historySweep: {
    name: 'SIGKILL at each write of versions and restores',
    injected:
      'an object of another namespace is recorded, edited, restored, edited, deleted and restored; the process is killed at the first write, then at the second, and so on; another one is started',
    oracle:
      'the versions are a part of the true history that ends with the last state, each restore is carried out, nothing undoes the next edit, and all versions are deleted with the resource',
    runs: 'every write, twice: not executed; executed with a lost response',
  },
  historyWatch: {
    name: 'an object that is edited while its watch has expired',
    injected: 'the watch gets a 410 in place of an edit, and the next list is held during two more',
    oracle: 'the states before and after are versions, and the next edit is one',
    runs: 'once',
  },
  historyAnswers: {
    name: 'lost responses to the writes of versions and restores',
    injected:
      'two versions, one restore and the note of its request are written and their responses dropped',
    oracle:
      'each state has one version, the restore is carried out, and nothing undoes the next edit',
    runs: 'once',
  },
  historyConflicts: {
    name: '409 on versions and on restores',
    injected:
      'three writes of versions get a 409; a user edits the object before each of the first two attempts of a restore',
    oracle: 'each edit has a version before it is overwritten, and the restore is carried out',
    runs: 'once',
  },
  historyRestored: {
    name: 'etcd is restored from before an object was edited and deleted',
    injected:
      'etcd’s data is copied; the object is edited three times and deleted; all servers are started on the copy',
    oracle: 'the restored state is the newest version, and the next edits have versions',
    runs: 'once',
  },
  apiServerKilled: {
    name: 'the API server is killed in the middle of 200 creations',
    injected:
      'SIGKILL of the API server at the 200th write of the process, which is lost; the server is restarted',
    oracle: 'nothing is created twice, nothing is deleted, the process keeps running',
    runs: 'once',
  },
  etcdRestored: {
    name: 'etcd is restored from before the last 50 writes',
    injected:
      'after the creations etcd’s data is copied; after the edits, and at least a hundred writes, all servers are started on the copy',
    oracle:
      'the cluster has the state after the creations, with the same UIDs; after new edits it has the state after the edits; the process keeps running',
    runs: 'once',
  },
  outdatedLeader: {
    name: 'a new leader writes nothing before it has read the definitions',
    injected:
      'a user changes a definition, adds one and pauses it while one process is the leader; another becomes leader, and its lists of ConfigMaps and of definition objects are held',
    oracle:
      'it writes nothing until they are released, then the newest revisions; nothing is deleted, and the pause stays',
    runs: 'once',
  },
  rolloutOutage: {
    name: 'a waiting roll-out when the API server becomes unreachable',
    injected:
      'a roll-out is held for deletions, or stopped for failures, of a kind of its own and of a kind of `for`; all connections are rejected until the process reports it',
    oracle:
      'it waits as before, for the same revision with the same failed resources; an approval or a fixed revision finishes it',
    runs: 'once each',
  },
  conversionKills: {
    name: 'SIGKILL of the runtime and of webhook processes while versions of a kind change',
    injected:
      'a second version is opened and stored, the first one is closed and removed, and all of it back again; in each step the runtime or one of two webhook processes is killed at a random moment and started again, while clients of both versions create, apply, update, read, list and watch',
    oracle:
      'only requests that run while a webhook process is missing fail, with the message of the API server that names the webhook; every value that was written last is there, both versions are equal, field managers are those of the version that is left, and nothing else of the conversions remains',
    runs: 'one change and back, 10 kills; 30 with `HOMEOSTAT_MODEL_RUNS=30`',
  },
  conversionOutage: {
    name: 'no webhook process runs',
    injected:
      'both are killed while clients of both versions write, read and watch, and started again',
    oracle:
      'requests that need a conversion fail with a message that names the webhook, and are carried out after the outage; no field is lost',
    runs: 'once',
  },
  leftovers: {
    name: 'deleted resources leave nothing behind',
    injected:
      '60 resources are created and deleted four times while watches are cut and responses are lost',
    oracle: 'the last two rounds leave less on the heap than their objects would take',
    runs: 'once',
  },
} satisfies Readonly<Record<string, OtherFault>>;
