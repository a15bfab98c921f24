#!/usr/bin/env python3
"""tables.py FOLDER: made tables, each with a line of names, for training (NAME_train.csv) and testing (NAME_test.csv).

flowers: four measures and the species by its name.  houses: four facts and the price.  rooms: three facts, and what it
takes to heat and to cool them.  pumps: five readings and three columns of zeros and ones, the faults that a pump has.
rare: two measures and a class of which one is rare. houses_new.csv has facts without prices.

As people have them, in one file each, with texts, dates and gaps: passengers.csv, who survived a shipwreck, and
flats.csv, prices in euros; passengers_new.csv and flats_new.csv are without what is to be known."""

import os
import random
import sys

SPECIES = {"setosa": (5.0, 3.4, 1.5, 0.2), "versicolor": (5.9, 2.8, 4.3, 1.3), "virginica": (6.6, 3.0, 5.6, 2.0)}


def flower(draw):
    name = draw.choice(sorted(SPECIES))
    return [f"{draw.gauss(mean, 0.1 + 0.06 * mean):.2f}" for mean in SPECIES[name]] + [name]


def house(draw):
    area, rooms, age, distance = draw.uniform(40, 220), draw.randrange(1, 8), draw.uniform(0, 80), draw.uniform(0.2, 25)
    price = 40 + 2.4 * area + 12 * rooms - 0.9 * age - 3.5 * distance + draw.gauss(0, 8)
    return [f"{area:.1f}", str(rooms), f"{age:.1f}", f"{distance:.2f}", f"{price:.1f}"]


def room(draw):
    size, windows, outside = draw.uniform(8, 60), draw.randrange(1, 6), draw.uniform(-10, 35)
    heating = 0.9 * size + 6 * windows + max(0, 20 - outside) * 2 + draw.gauss(0, 3)
    cooling = 0.4 * size + 4 * windows + max(0, outside - 22) * 3 + draw.gauss(0, 2)
    return [f"{size:.1f}", str(windows), f"{outside:.1f}", f"{heating:.2f}", f"{cooling:.2f}"]


def pump(draw):
    leak, bearing, clogged = (int(draw.random() < share) for share in (0.3, 0.25, 0.35))
    readings = [5.0 - 1.6 * leak + 1.3 * clogged, 60 + 18 * bearing + 6 * clogged, 0.4 + 1.1 * bearing,
                12.0 - 2.0 * leak - 4.0 * clogged, 7.5 + 1.8 * bearing + 1.2 * clogged]
    return [f"{draw.gauss(value, 0.1 * value):.3f}" for value in readings] + [str(leak), str(bearing), str(clogged)]


def rare(draw):
    fraud = draw.random() < 0.06
    return [f"{draw.gauss(1.6 if fraud else 0, 0.8):.3f}", f"{draw.gauss(1.2 if fraud else 0, 0.9):.3f}",
            "fraud" if fraud else "honest"]


def passenger(draw, number):
    sex, berth = draw.choice(["female", "male", "male"]), draw.choice([1, 2, 3, 3])
    age = draw.uniform(1, 75)
    fare = draw.lognormvariate({1: 4.2, 2: 2.9, 3: 2.3}[berth], 0.4)
    survived = draw.random() < {"female": 1.05, "male": 0.45}[sex] - 0.14 * berth - 0.003 * (age - 30)
    name = f'"{chr(65 + number % 26)}{number}, {draw.choice(["Ada", "Berit", "Carl", "Dora", "Emil"])}"'
    cabin = f"{'ABC'[berth - 1]}{number}" if draw.random() < 0.3 else ""
    return [str(number), str(int(survived)), str(berth), name, sex,
            "" if draw.random() < 0.2 else f"{age:.0f}", f"1912-04-{draw.randrange(8, 11):02}", f"T{number * 7}",
            f"{fare:.2f}", cabin, "" if draw.random() < 0.02 else draw.choice("CQSSS")]


def flat(draw):
    district, area = draw.choice(["harbour", "hill", "mill", "old town"]), draw.uniform(25, 160)
    built, floor = draw.randrange(1890, 2021), draw.randrange(0, 8)
    price = area * {"harbour": 4800, "hill": 5600, "mill": 3100, "old town": 6900}[district]
    price *= (1 + 0.02 * floor) * (0.8 + 0.002 * (built - 1890)) * draw.gauss(1, 0.02)
    return [f"{area:.0f}", district, "NA" if draw.random() < 0.1 else str(built), str(floor),
            f"{draw.randrange(1, 29):02}.{draw.randrange(1, 13):02}.2024", f"{price:.0f}"]


TABLES = {"flowers": (flower, 240, "sepal_length,sepal_width,petal_length,petal_width,species"),
          "houses": (house, 400, "area,rooms,age,distance,price"),
          "pumps": (pump, 480, "pressure,temperature,vibration,flow,current,leak,bearing,clogged"),
          "rare": (rare, 800, "amount,distance,kind"),
          "rooms": (room, 400, "size,windows,outside,heating,cooling")}


def write(path, names, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(",".join(line) + "\n" for line in [names.split(","), *lines])


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    draw = random.Random(3)
    for name, (line, count, names) in TABLES.items():
        write(os.path.join(folder, f"{name}_train.csv"), names, [line(draw) for _ in range(count)])
        write(os.path.join(folder, f"{name}_test.csv"), names, [line(draw) for _ in range(count // 4)])
    write(os.path.join(folder, "houses_new.csv"), "area,rooms,age,distance", [house(draw)[:-1] for _ in range(5)])
    names = "PassengerId,Survived,Class,Name,Sex,Age,Boarded,Ticket,Fare,Cabin,Port"
    people = [passenger(draw, number) for number in range(1, 807)]
    write(os.path.join(folder, "passengers.csv"), names, people[:800])
    write(os.path.join(folder, "passengers_new.csv"), names.replace("Survived,", ""),
          [line[:1] + line[2:] for line in people[800:]])
    names = "area,district,built,floor,sold,price"
    flats = [flat(draw) for _ in range(605)]
    write(os.path.join(folder, "flats.csv"), names, flats[:600])
    write(os.path.join(folder, "flats_new.csv"), names[:-len(",sold,price")], [line[:-2] for line in flats[600:]])


main()
