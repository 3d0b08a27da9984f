import type { Sandbox } from 'homeostat';

/** A small controller: deletes ConfigMaps with the label "temporary" that are older than an hour. Returns their names. */
export async function deleteOldConfigMaps(cluster: Sandbox): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (const { metadata } of await cluster.list('ConfigMap')) {
    const { name, namespace, labels = {}, creationTimestamp = '' } = metadata;
    const ageMs = cluster.now.getTime() - Date.parse(creationTimestamp);
    if (labels.temporary !== 'true' || ageMs < 3_600_000) continue;
    await cluster.delete(`ConfigMap/${namespace}/${name}`);
    deleted.push(name);
  }
  return deleted;
}
