import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';

/** Midnight of a day in January 2026. */
export const day = (n: number): string => `2026-01-0${n}T00:00:00.000Z`;

export const roomId = 'urn:ngsi-ld:Room:1';
export const roomPath = `/temporal/entities/${roomId}`;

/** A temporal entity with two attributes, one of them in two datasets. */
export const room = {
  id: roomId,
  type: 'Room',
  temperature: [
    {
      type: 'Property',
      value: 21,
      observedAt: day(2),
      unitCode: 'CEL',
      place: { type: 'Property', value: 'in' },
    },
    { type: 'Property', value: 20, observedAt: day(1) },
    { type: 'Property', value: 25, observedAt: day(1), datasetId: 'urn:ngsi-ld:ds:B' },
  ],
  owner: { type: 'Relationship', object: 'urn:ngsi-ld:P:1' },
};

export type Instance = Record<string, unknown> & { readonly instanceId: string };

/** Returns the instances of an attribute of the room, as stored by the broker. */
export function instancesOf({ temporal }: EmbeddedBroker, attribute: string): readonly Instance[] {
  return (temporal.get(roomId)?.[attribute] ?? []) as unknown as readonly Instance[];
}

export function valuesOf(broker: EmbeddedBroker, attribute: string): readonly unknown[] {
  return instancesOf(broker, attribute).map(({ value }) => value);
}
