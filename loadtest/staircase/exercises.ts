/** The drills that are columns of no staircase: they judge what is written in an exercise. */
export const exerciseDrillNames = ['crossed-ticks', 'clicks-at-once', 'killed-at-work', 'booking-fails', 'sent-twice'];
