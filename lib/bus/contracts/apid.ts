import { defineContract } from '../contract.js';
import { commonMethods } from './common.js';

/** What svc-apid answers on the bus; its section `api` is the effective api.yaml. */
export const apidContract = defineContract('svc-apid', { ...commonMethods });
