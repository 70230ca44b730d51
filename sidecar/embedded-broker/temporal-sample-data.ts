const MONTHS = 6;
const DAYS_APART = 10;
const START = Date.UTC(2025, 6, 1, 8);
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The history of two of the sample vehicles to try a temporal purge with: speed every ten days from July to December
 * 2025, and beside it what is left in the tank of the one, and the estimate of a second sensor of the other.
 */
export const sampleHistory: readonly object[] = [
  {
    id: 'urn:ngsi-ld:Vehicle:Car:A1',
    type: 'Vehicle',
    speed: series((index) => ({ value: 90 + ((index * 37) % 50), unitCode: 'KMH' })),
    fuelLevel: series((index) => ({ value: 90 - (index % 6) * 15, unitCode: 'P1' })),
  },
  {
    id: 'urn:ngsi-ld:Vehicle:Truck:B1',
    type: 'Vehicle',
    speed: [
      ...series((index) => ({ value: 60 + ((index * 23) % 35), unitCode: 'KMH' })),
      ...series((index) => ({
        value: 62 + ((index * 29) % 35),
        unitCode: 'KMH',
        datasetId: 'urn:ngsi-ld:Dataset:gps',
      })),
    ],
  },
];

/** Instances of a Property, evenly spread over some months. */
function series(make: (index: number) => object): readonly object[] {
  return Array.from({ length: (MONTHS * 30) / DAYS_APART }, (_, index) => ({
    type: 'Property',
    ...make(index),
    observedAt: new Date(START + index * DAYS_APART * DAY_MS).toISOString(),
  }));
}
