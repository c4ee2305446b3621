// The directory's way in (reference §31): SCIM 2.0, by which a company's directory keeps the members of a workspace.
import { Module } from '@nestjs/common';
import { ProvisioningModule } from '../../access/provisioning/provisioning.module.js';
import { RateLimitModule } from '../../access/rate-limit/rate-limit.module.js';
import { Directories } from './directories.js';
import { Scim } from './scim.js';

@Module({ imports: [ProvisioningModule, RateLimitModule], providers: [Directories, Scim] })
export class ScimModule {}
