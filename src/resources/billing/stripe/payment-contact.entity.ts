import { Check, Entity, PrimaryColumn } from 'typeorm';
import { Timestamp } from '../../../platform/database/columns.js';

/** One row: when the payment provider last answered. After a gap there may be events that never came. */
@Entity('payment_contact')
@Check('payment_contact_check', 'one')
export class PaymentContact {
  @PrimaryColumn('boolean', { default: true }) one: boolean;
  @Timestamp() answeredAt: Date;
  /** The end of the last gap: what was compared before is compared again. */
  @Timestamp({ nullable: true }) backAt: Date | null;
}
