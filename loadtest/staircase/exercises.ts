/** Drills outside the result matrices: they judge the solutions of exercises. */
export const exerciseDrillNames = ['crossed-ticks', 'clicks-at-once', 'killed-at-work', 'booking-fails', 'sent-twice'];
